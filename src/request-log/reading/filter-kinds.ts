import { CUBE } from '../rollups/dimensions.js';
import { labelInClickHouse, labelSql } from '../rollups/labels.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

/** Binds a value of the given ClickHouse type as a parameter of the query. */
export type BindTyped = (value: unknown, type: string) => string;

/**
 * The same condition in ClickHouse: its SQL, or a column that holds one of the ids that PostgreSQL returns for the organization ($1) and
 * the parameter ($2). Null when only PostgreSQL has the data.
 */
export type InClickHouse =
  | { readonly sql: (bind: BindTyped, parameter: unknown) => string }
  | { readonly column: string; readonly ids: string; readonly isNegated?: true }
  | null;

/** A condition of a query: its parameter, and SQL that refers to it only by the given placeholder. */
export interface QueryCondition {
  readonly sql: (placeholder: string) => string;
  readonly parameter: unknown;
  /** The rollup dimensions that it concerns; null when it needs the request rows. */
  readonly on: readonly string[] | null;
  readonly inClickHouse: InClickHouse;
}

/** How a filter compares its parameter with request rows. */
type ComparisonSql = Pick<QueryCondition, 'sql' | 'inClickHouse'>;

export interface Filter extends ComparisonSql {
  /** Where a wanted value is the label of a longer one. Default: values have no labels. */
  readonly ofLabels?: ComparisonSql;
  /** Parses the parameter; undefined rejects it. */
  readonly read: (text: string) => unknown;
  readonly expects: string;
  /** Default: it needs the request rows. */
  readonly on?: readonly string[];
}

export const anyOf = (value: string, type: string): InClickHouse => ({
  sql: (bind, parameter) => `${value} IN ${bind(parameter, `Array(${type})`)}`,
});

const MOST_VALUES = 100;
export const FILTER_CHARS_MAX = 2_048;

/**
 * Values as they are stored, white space at their ends included: one without a comma, or those of a JSON array. Only in a list with commas
 * is white space around a value not part of it.
 */
const textsOf = (text: string): readonly string[] | undefined => {
  const array = text.startsWith('[') ? arrayIn(text) : null;
  const values = array ?? (text.includes(',') ? filterValues(text, () => true) : [text]);
  return values && values.length <= MOST_VALUES && values.every((value) => value !== '') ? values : undefined;
};

/** Null for a text that is no array of strings: a value may begin with a bracket. */
function arrayIn(text: string): readonly string[] | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) && parsed.length > 0 && parsed.every(isPlainText) ? parsed : null;
  } catch {
    return null;
  }
}

/** JSON can express NUL and lone surrogates, which PostgreSQL's texts cannot hold. */
const isPlainText = (value: unknown): value is string =>
  typeof value === 'string' && !value.includes('\0') && !/\p{Surrogate}/u.test(value);

/** A value never becomes SQL; commas separate alternatives. */
export const filterValues = (
  text: string,
  fits: (value: string) => boolean,
): readonly string[] | undefined => {
  const values = text.split(',').map((value) => value.trim());
  return values.length <= MOST_VALUES && values.every(fits) ? values : undefined;
};

/** By the value or its label. It can use no index, so it compares only where a label is wanted. */
const anyLabel = (column: string): ComparisonSql => ({
  sql: (placeholder) =>
    `(${column} = ANY(${placeholder}::text[]) OR ${labelSql(column)} = ANY(${placeholder}::text[]))`,
  inClickHouse: {
    sql: (bind, parameter) => {
      const values = bind(parameter, 'Array(String)');
      return `(${column} IN ${values} OR ${labelInClickHouse(column)} IN ${values})`;
    },
  },
});

export const anyText = (column: string, isDimension = false): Filter => ({
  ...(isDimension ? { on: [column] } : {}),
  inClickHouse: anyOf(column, 'String'),
  sql: (placeholder) => `${column} = ANY(${placeholder}::text[])`,
  ofLabels: anyLabel(column),
  read: textsOf,
  expects: `a list of at most ${MOST_VALUES} values, separated by commas, or a JSON array of them`,
});

export const anyId = (column: string, isDimension = false): Filter => ({
  ...(isDimension ? { on: [column] } : {}),
  inClickHouse: anyOf(column, 'UUID'),
  sql: (placeholder) => `${column} = ANY(${placeholder}::uuid[])`,
  read: (text) => filterValues(text, isUuid),
  expects: 'a list of ids, separated by commas',
});

const DATE_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const DAY_LENGTH = '2030-01-31'.length;

/** JavaScript reads 30 February as 2 March. */
function isDayOfCalendar(day: string): boolean {
  const midnight = new Date(day);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

/** In UTC. A zone can lead to years before 1 or after 9999, which the database cannot read. */
function momentIn(text: string): string | undefined {
  const at = new Date(text);
  const year = at.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? at.toISOString() : undefined;
}

export const arrival = (operator: ComparisonOperator): Filter => ({
  sql: (placeholder) => `created_at ${operator} ${placeholder}::timestamptz`,
  inClickHouse: {
    sql: (bind, parameter) =>
      `created_at ${operator} parseDateTime64BestEffort(${bind(parameter, 'String')}, 6, 'UTC')`,
  },
  read: (text) =>
    DATE_TIME.test(text) && isDayOfCalendar(text.slice(0, DAY_LENGTH)) ? momentIn(text) : undefined,
  expects: 'a date, or a date and time with its zone, such as 2030-01-31T12:00:00Z',
});

const NUMBER = /^-?\d{1,12}(\.\d{1,7})?$/;

export type ComparisonOperator = '>=' | '<=';

/** A bound on a number. Requests whose value is unknown match no bound. */
export const bound = (value: string, operator: ComparisonOperator, scale = '1'): Filter => ({
  sql: (placeholder) => `${value} ${operator} ${placeholder}::numeric * ${scale}`,
  inClickHouse: {
    sql: (bind, parameter) => `${value} ${operator} ${bind(parameter, 'Decimal(38, 7)')} * ${scale}`,
  },
  read: (text) => (NUMBER.test(text) ? text : undefined),
  expects: 'a number',
});

/** The same rows in ClickHouse, where a comparison with NULL may yield NULL. */
function negatedInClickHouse(given: InClickHouse): InClickHouse {
  if (given === null) return null;
  if ('ids' in given) return { ...given, isNegated: true };
  return { sql: (bind, parameter) => `NOT ifNull(${given.sql(bind, parameter)}, false)` };
}

/** All other rows, including those whose value is unknown. Slices of the rollups have no rows for absent values. */
export const negated = ({ on, ofLabels, ...filter }: Filter): Filter => ({
  ...filter,
  ...(on?.every((dimension) => Object.hasOwn(CUBE, dimension)) ? { on } : {}),
  ...negatedComparison(filter),
  ...(ofLabels && { ofLabels: negatedComparison(ofLabels) }),
});

const negatedComparison = ({ sql, inClickHouse }: ComparisonSql): ComparisonSql => ({
  sql: (placeholder) => `(${sql(placeholder)}) IS NOT TRUE`,
  inClickHouse: negatedInClickHouse(inClickHouse),
});
