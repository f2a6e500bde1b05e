import type { z } from 'zod';

/** What is wrong with one part of a value. `rule` continues "The field … is invalid: ", without a full stop. */
export interface SchemaMistake {
  readonly path: readonly (string | number)[];
  readonly rule: string;
  /** The schema does not define the name; `path` ends in it. */
  readonly isUnknown: boolean;
}

type SchemaResult<T> =
  | { readonly data: T; readonly mistakes?: undefined }
  | { readonly data?: undefined; readonly mistakes: readonly [SchemaMistake, ...SchemaMistake[]] };

/**
 * Parses a value by a schema, or returns all of its mistakes in our own words, which never contain the value: it may be a secret. The only
 * place that words the library's findings; a schema's own text (`error`, `message`) takes precedence.
 * @see https://zod.dev/error-customization
 */
export function readBySchema<T>(schema: z.ZodType<T>, value: unknown): SchemaResult<T> {
  const read = schema.safeParse(value, { error: (issue) => wordsOf(issue as RawIssue) });
  if (read.success) return { data: read.data };
  const [first, ...rest] = read.error.issues.flatMap(mistakesOf);
  return { mistakes: [first ?? { path: [], rule: WRONG, isUnknown: false }, ...rest] };
}

type Issue = z.core.$ZodIssue;
/** An issue as the library passes it for wording. */
type RawIssue = Issue & { readonly input?: unknown };

const WRONG = 'it is not of the form that is needed here';
const NOT_KNOWN = 'there is no such field here';

function mistakesOf(issue: Issue): SchemaMistake[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)));
  return issue.code === 'unrecognized_keys'
    ? issue.keys.map((name) => ({ path: [...path, name], rule: NOT_KNOWN, isUnknown: true }))
    : [{ path, rule: issue.message, isUnknown: false }];
}

function wordsOf(issue: RawIssue): string {
  const rule = ruleOf(issue);
  const isMissing = issue.input === undefined && ABSENT.has(issue.code);
  return isMissing ? rule.replace(/^it /, 'it is required and ') : rule;
}

/** Kinds of issues that a missing value has. */
const ABSENT: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

function ruleOf(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `it must be ${kindOf(issue.expected)}`;
    case 'invalid_value':
      return `it must be ${listed(issue.values.map(String))}`;
    case 'invalid_format':
      return formatRule(issue);
    case 'too_small':
      return sizeRule(issue, issue.inclusive ? 'at least' : 'more than', issue.minimum);
    case 'too_big':
      return sizeRule(issue, issue.inclusive ? 'at most' : 'less than', issue.maximum);
    case 'invalid_union':
      return unionRule(issue);
    default:
      return issue.code === 'invalid_key' ? keyRule(issue) : WRONG;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

const kindOf = (expected: string): string => KINDS[expected] ?? expected;

const listed = (values: readonly string[]): string =>
  values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;

function formatRule(issue: z.core.$ZodIssueInvalidStringFormat): string {
  if (issue.format === 'url') return 'it must be an address such as https://host/path';
  return issue.format === 'regex' && issue.pattern !== undefined
    ? `it must match ${issue.pattern}`
    : `it must be of the form "${issue.format}"`;
}

/** The counted unit, by the kind of value; for a number, the number itself. */
const COUNTED: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

function sizeRule({ origin }: { readonly origin: string }, word: string, limit: number | bigint): string {
  const counted = COUNTED[origin];
  return counted
    ? `it must have ${word} ${limit} ${counted[Number(limit) === 1 ? 0 : 1]}`
    : `it must be ${word} ${limit}`;
}

const keyRule = ({ issues: [first] }: z.core.$ZodIssueInvalidKey): string =>
  `a name in it is invalid: ${first?.message ?? WRONG}`;

/** The kinds, if each alternative is a single kind of value. */
function unionRule({ errors }: z.core.$ZodIssueInvalidUnion): string {
  const kinds = errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? kindOf(first.expected) : null,
  );
  const known = kinds.filter((kind) => kind !== null);
  return known.length === kinds.length && known.length > 0
    ? `it must be ${listed([...new Set(known)])}`
    : WRONG;
}
