import { RE2JS } from 're2js';
import type { JsonObject } from './document.js';
import type { DocumentPath } from './document-path.js';
import { isJsonObject } from './readers.js';

/** The facts about a request that conditions can use. */
export interface RequestFacts {
  readonly metadata: Readonly<Record<string, string>> | null;
  /** The JSON body; null if none was read. */
  readonly params: JsonObject | null;
  /** As sent by the client: `/v1/chat/completions`. */
  readonly pathname: string;
}

/** The input of all routing choices. */
export interface RoutedRequest extends RequestFacts {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A compiled query. */
export type Condition = (facts: RequestFacts) => boolean;

type Test = (value: unknown) => boolean;
type FactReader = (facts: RequestFacts) => unknown;

const PATTERN_CHARS_MAX = 1_000;
/** Steps of the compiled pattern: together with the limit of the subject, they limit the time of a match. */
const PROGRAM_MAX = 5_000;
/** The part of a value that a pattern searches. */
const SUBJECT_CHARS_MAX = 4_096;
const LIST_MAX = 1_000;
const PATH_STEPS_MAX = 16;

const never: Condition = () => false;

/**
 * Reads a query: every key of an object must match, also beside `$and` and `$or`. A key is one of these two or a field (`metadata.<key>`,
 * `params.<path>`, `url.pathname`); its value is an object of operators or a plain value, which means `$eq`. Mistakes are reported at their
 * path; the condition then never matches.
 */
export function readCondition(query: unknown, at: DocumentPath): Condition {
  if (!isJsonObject(query) || Object.keys(query).length === 0) {
    at.refuse('must be an object with at least one condition');
    return never;
  }
  const parts = Object.entries(query).map(([key, value]) => readPart(key, value, at.at(key)));
  return every(parts);
}

function readPart(key: string, value: unknown, at: DocumentPath): Condition {
  if (key === '$and') return every(readList(value, at));
  if (key === '$or') return some(readList(value, at));
  const valueOf = readField(key, at);
  const test = isJsonObject(value) ? readTests(value, at) : equals(value, at);
  return (facts) => test(valueOf(facts));
}

function readList(value: unknown, at: DocumentPath): Condition[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= LIST_MAX)
    return value.map((query, index) => readCondition(query, at.at(index)));
  at.refuse('must be a list of queries, and not empty');
  return [never];
}

const every =
  (parts: readonly Condition[]): Condition =>
  (facts) =>
    parts.every((part) => part(facts));

const some =
  (parts: readonly Condition[]): Condition =>
  (facts) =>
    parts.some((part) => part(facts));

function readField(key: string, at: DocumentPath): FactReader {
  const dot = key.indexOf('.');
  const root = key.slice(0, dot);
  const rest = key.slice(dot + 1);
  if (key === 'url.pathname') return ({ pathname }) => pathname;
  if (rest !== '' && root === 'metadata') return ({ metadata }) => own(metadata, rest);
  if (rest !== '' && root === 'params') return paramAt(rest, at);
  at.refuse('is neither an operator nor a field. Fields are metadata.<key>, params.<path> and url.pathname');
  return () => undefined;
}

/** `a.b[0].c`, as a path in a body. */
function paramAt(path: string, at: DocumentPath): FactReader {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  if (steps.length > PATH_STEPS_MAX) at.refuse(`must not have more than ${PATH_STEPS_MAX} steps`);
  return ({ params }) => steps.reduce<unknown>(own, params);
}

function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

const OPERATORS: Readonly<Record<string, (expected: unknown, at: DocumentPath) => Test>> = {
  $eq: equals,
  $ne: (expected, at) => not(equals(expected, at)),
  $gt: ordered((order) => order > 0),
  $gte: ordered((order) => order >= 0),
  $lt: ordered((order) => order < 0),
  $lte: ordered((order) => order <= 0),
  $in: isIn,
  $nin: (expected, at) => not(isIn(expected, at)),
  $regex: matches,
};

function readTests(operators: JsonObject, at: DocumentPath): Test {
  const tests = Object.entries(operators).map(([name, expected]) => {
    const place = at.at(name);
    if (Object.hasOwn(OPERATORS, name)) return OPERATORS[name]?.(expected, place) ?? (() => false);
    place.refuse(`is not an operator. Operators are ${Object.keys(OPERATORS).join(', ')}`);
    return () => false;
  });
  if (tests.length === 0) at.refuse('must have at least one operator');
  return (value) => tests.every((test) => test(value));
}

const not =
  (test: Test): Test =>
  (value) =>
    !test(value);

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function equals(expected: unknown, at: DocumentPath): Test {
  if (!isScalar(expected)) at.refuse('must be a string, a number, true, false or null');
  return (value) => isSame(value, expected);
}

/**
 * Metadata is always text, so `7`, `"7"` and `"7.0"` are equal if one of the two is a number, as they are for `$gte`, and so are `true` and
 * `"true"`. Two texts are equal only literally: `"1.10"` is not `"1.1"`. A missing field is null.
 */
function isSame(value: unknown, expected: unknown): boolean {
  if (value === expected) return true;
  if (value == null || expected === null) return value == null && expected === null;
  if (!isScalar(value) || !isScalar(expected)) return false;
  const isNumber = typeof value === 'number' || typeof expected === 'number';
  return (isNumber && orderOf(value, expected) === 0) || String(value) === String(expected);
}

function isIn(expected: unknown, at: DocumentPath): Test {
  if (!Array.isArray(expected) || expected.length > LIST_MAX || !expected.every(isScalar)) {
    at.refuse(`must be a list of at most ${LIST_MAX} plain values`);
    return () => false;
  }
  return (value) => expected.some((one) => isSame(value, one));
}

/** Numbers, and numeric texts, are ordered as numbers; two texts as text. Other values have no order. */
function ordered(holds: (order: number) => boolean): (expected: unknown, at: DocumentPath) => Test {
  return (expected, at) => {
    if (typeof expected !== 'number' && typeof expected !== 'string')
      at.refuse('must be a number or text to compare with');
    return (value) => {
      const order = orderOf(value, expected);
      return order !== null && holds(order);
    };
  };
}

function orderOf(value: unknown, expected: unknown): number | null {
  if (typeof value === 'string' && typeof expected === 'string')
    return numberOf(value) !== null && numberOf(expected) !== null
      ? compared(Number(value), Number(expected))
      : compared(value, expected);
  const [one, other] = [numberOf(value), numberOf(expected)];
  return one === null || other === null ? null : compared(one, other);
}

/** Not by their difference: that of two infinities (`1e400`) is NaN. */
function compared<T extends string | number>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}

/** Matches anywhere in the text, in linear time: https://github.com/google/re2/wiki/Syntax. */
function matches(expected: unknown, at: DocumentPath): Test {
  const pattern = compiled(expected, at);
  if (!pattern) return () => false;
  return (value) => {
    if (typeof value === 'number') return pattern.test(String(value));
    return typeof value === 'string' && pattern.test(value.slice(0, SUBJECT_CHARS_MAX));
  };
}

function compiled(expected: unknown, at: DocumentPath): RE2JS | undefined {
  if (typeof expected !== 'string' || expected.length > PATTERN_CHARS_MAX)
    return at.refuse(`must be a pattern of at most ${PATTERN_CHARS_MAX} characters`);
  try {
    const pattern = RE2JS.compile(expected);
    if (pattern.programSize() <= PROGRAM_MAX) return pattern;
    return at.refuse('is a pattern with too many repetitions');
  } catch (error) {
    return at.refuse(`is not a valid RE2 pattern: ${(error as Error).message}`);
  }
}
