import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

/** A condition of a query: SQL that names its parameter only by the placeholder it is given, and the parameter. */
export interface Condition {
  readonly sql: (placeholder: string) => string;
  readonly parameter: unknown;
}

interface Filter {
  readonly sql: Condition['sql'];
  /** Makes the parameter of the text that was sent; undefined refuses it. */
  readonly read: (text: string) => unknown;
  readonly expects: string;
}

const MOST_VALUES = 100;
const LONGEST_VALUE = 2_048;

/** Nothing of a value ever becomes SQL; a comma separates alternatives. */
const listOf = (text: string, fits: (value: string) => boolean): readonly string[] | undefined => {
  const values = text.split(',').map((value) => value.trim());
  return values.length <= MOST_VALUES && values.every(fits) ? values : undefined;
};

const anyText = (column: string): Filter => ({
  sql: (placeholder) => `${column} = ANY(${placeholder}::text[])`,
  read: (text) => listOf(text, (value) => value !== ''),
  expects: `a list of at most ${MOST_VALUES} values, separated by commas`,
});

const anyId = (column: string): Filter => ({
  sql: (placeholder) => `${column} = ANY(${placeholder}::uuid[])`,
  read: (text) => listOf(text, isUuid),
  expects: 'a list of ids, separated by commas',
});

const DATE_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const arrival = (operator: '>=' | '<='): Filter => ({
  sql: (placeholder) => `created_at ${operator} ${placeholder}::timestamptz`,
  read: (text) => {
    const at = DATE_TIME.test(text) ? new Date(text) : undefined;
    return at && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
  },
  expects: 'a date, or a date and time with its zone, such as 2030-01-31T12:00:00Z',
});

const status: Filter = {
  sql: (placeholder) => `status = ANY(${placeholder}::smallint[])`,
  read: (text) => listOf(text, (value) => /^[1-9]\d{2}$/.test(value)),
  expects: 'a list of status codes, separated by commas',
};

const metadata: Filter = {
  sql: (placeholder) => `metadata @> ${placeholder}::jsonb`,
  read: (text) => {
    const entries = Object.entries(objectIn(text) ?? { refused: null });
    return entries.flat().every(isStorable) ? JSON.stringify(Object.fromEntries(entries)) : undefined;
  },
  expects: 'a JSON object whose values are texts',
};

const providerAndModel: Filter = {
  ...anyText('model'),
  sql: (placeholder) => `provider || '__' || model = ANY(${placeholder}::text[])`,
};

/**
 * What a list of the request log can be narrowed to, by the name of the parameter. Names are those of the compatible
 * API, with shorter ones beside them.
 */
export const LOG_FILTERS = {
  time_of_generation_min: arrival('>='),
  time_of_generation_max: arrival('<='),
  created_at_min: arrival('>='),
  created_at_max: arrival('<='),
  status_code: status,
  ai_org: anyText('provider'),
  provider: anyText('provider'),
  ai_model: anyText('model'),
  model: anyText('model'),
  ai_org_model: providerAndModel,
  endpoint: anyText('endpoint'),
  ending: anyText('ending'),
  api_key_id: anyId('api_key_id'),
  api_key_ids: anyId('api_key_id'),
  virtual_key: anyText('virtual_key'),
  virtual_keys: anyText('virtual_key'),
  trace_id: anyText('trace_id'),
  span_id: anyText('span_id'),
  metadata,
} as const satisfies Record<string, Filter>;

export type LogFilterName = keyof typeof LOG_FILTERS;

export function isLogFilter(name: string): name is LogFilterName {
  return Object.hasOwn(LOG_FILTERS, name);
}

/** The condition that a filter with this value stands for. Refuses a value that the filter cannot mean. */
export function conditionOf(name: LogFilterName, text: string): Condition {
  const { sql, read, expects }: Filter = LOG_FILTERS[name];
  // PostgreSQL's texts hold every character but this one.
  const parameter = text.length <= LONGEST_VALUE && !text.includes('\0') ? read(text) : undefined;
  if (parameter === undefined)
    throw new AppError('invalid_request', { detail: `The parameter "${name}" must be ${expects}.` });
  return { sql, parameter };
}

function objectIn(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Half a character and NUL can be written in JSON, but PostgreSQL has no such text and fails on them. */
function isStorable(value: unknown): boolean {
  return typeof value === 'string' && !value.includes('\0') && !/\p{Surrogate}/u.test(value);
}
