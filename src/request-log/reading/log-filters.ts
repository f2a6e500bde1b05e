import { parameterError } from '../../common/errors/field-errors.js';
import { postgresType } from '../columns/log-column.js';
import { columnsWith, type ColumnsWith, LOG_COLUMNS } from '../columns/log-columns.js';
import {
  CUBE,
  isSlice,
  DIMENSION_CHARS_MAX as LONGEST_VALUE_OF_ROLLUPS,
  metadataSlice,
  USER_KEY,
} from '../rollups/dimensions.js';
import { isLabel, labelInClickHouse, labelSql } from '../rollups/labels.js';
import { metadataFilter, pairsIn } from './metadata-filter.js';
import {
  anyId,
  anyText,
  arrival,
  bound,
  type ComparisonOperator,
  type QueryCondition,
  type Filter,
  filterValues,
  FILTER_CHARS_MAX,
  negated,
} from './filter-kinds.js';

export type { BindTyped, QueryCondition } from './filter-kinds.js';

const STATUS = /^[1-9]\d{2}$/;

const status: Filter = {
  on: ['status'],
  sql: (placeholder) => `status = ANY(${placeholder}::smallint[])`,
  inClickHouse: {
    sql: (bind, parameter) => `status IN ${bind((parameter as string[]).map(Number), 'Array(Int16)')}`,
  },
  read: (text) => filterValues(text, (value) => STATUS.test(value)),
  expects: 'a list of status codes, separated by commas',
};

const statusBound = (operator: ComparisonOperator): Filter => ({
  on: ['status'],
  sql: (placeholder) => `status ${operator} ${placeholder}::smallint`,
  inClickHouse: { sql: (bind, parameter) => `status ${operator} ${bind(Number(parameter), 'Int16')}` },
  read: (text) => (STATUS.test(text) ? text : undefined),
  expects: 'a status code',
});

/** Provider and model; `shown` is what is compared of each. Values that a request does not name are empty, as in the rollups. */
const pairOf = (shown: (column: string) => string): string =>
  `concat(coalesce(${shown('provider')}, ''), '__', coalesce(${shown('model')}, ''))`;

/** No index serves the sum of two columns, so labels cost nothing here. */
const providerAndModel: Filter = {
  read: anyText('model').read,
  expects: anyText('model').expects,
  sql: (placeholder) => `ARRAY[${pairOf(labelSql)}, ${pairOf((column) => column)}] && ${placeholder}::text[]`,
  inClickHouse: {
    sql: (bind, parameter) =>
      `hasAny([${pairOf(labelInClickHouse)}, ${pairOf((column) => column)}], ${bind(parameter, 'Array(String)')})`,
  },
  on: ['provider', 'model'],
};

/** Saved configs are matched by slug. Deleted ones match nothing. */
const configs = (slug: string): Pick<Filter, 'sql' | 'inClickHouse'> => ({
  sql: (placeholder) => `config_id IN (SELECT configs.id FROM configs
    WHERE configs.organization_id = request_logs.organisation_id AND ${slug} = ANY(${placeholder}::text[]))`,
  inClickHouse: {
    column: 'config_id',
    ids: `SELECT id FROM configs WHERE organization_id = $1 AND ${slug} = ANY($2::text[])`,
  },
});

const anyConfig: Filter = {
  ...anyText('config_id', true),
  ...configs('configs.slug'),
  ofLabels: configs(labelSql('configs.slug')),
};

const NANO_USD_PER_CENT = '10000000';
/** In 64 bits: each summand may be the largest number of 32. */
const TOTAL_TOKENS = 'coalesce(0::bigint + input_tokens + output_tokens, input_tokens, output_tokens)';

const outcome: Filter = {
  sql: (placeholder) => `(status < 400) = ${placeholder}::boolean`,
  inClickHouse: { sql: (bind, parameter) => `(status < 400) = ${bind(parameter, 'Bool')}` },
  read: (text) => (['true', 'false'].includes(text) ? text : undefined),
  expects: '"true" or "false"',
  on: ['status'],
};

/** Feedback belongs to a trace, and so applies to each of its requests. */
const OF_TRACE = `FROM feedback
  WHERE feedback.organization_id = request_logs.organisation_id AND feedback.workspace_id = request_logs.workspace_id
  AND feedback.trace_id = request_logs.trace_id`;

const weightedFeedback = (operator: ComparisonOperator): Filter => ({
  ...bound(`(SELECT avg(feedback.value * feedback.weight) ${OF_TRACE})`, operator),
  inClickHouse: null,
});

const hasFeedback: Filter = {
  sql: (placeholder) => `EXISTS (SELECT 1 ${OF_TRACE}) = ${placeholder}::boolean`,
  read: outcome.read,
  expects: outcome.expects,
  inClickHouse: null,
};

/** Both bounds of a number, under the names that end in `_min` and `_max`. */
const bounds = <Name extends string>(name: Name, value: string, scale?: string) =>
  ({
    [`${name}_min`]: bound(value, '>=', scale),
    [`${name}_max`]: bound(value, '<=', scale),
  }) as Record<`${Name}_min` | `${Name}_max`, Filter>;

type FilteredColumn = ColumnsWith<{ readonly filter: string }>;

const isDimension = (name: string): boolean => Object.hasOwn(CUBE, name) || isSlice(name);

/** Filters by the values of a column, under its name. */
const OF_COLUMNS = Object.fromEntries(
  columnsWith('filter').map((name) => {
    const filterBy = postgresType(LOG_COLUMNS[name]) === 'uuid' ? anyId : anyText;
    return [name, filterBy(name, isDimension(name))];
  }),
) as Record<FilteredColumn, Filter>;

/** Filters by values. Each may be negated. */
const VALUES = {
  ...OF_COLUMNS,
  status_code: status,
  ai_org: anyText('provider', true),
  ai_model: anyText('model', true),
  ai_org_model: providerAndModel,
  api_key_ids: anyId('api_key_id', true),
  virtual_keys: anyText('virtual_key', true),
  config: anyConfig,
  configs: anyConfig,
  user: anyText('end_user', true),
  metadata: metadataFilter,
} as const satisfies Record<string, Filter>;

type NegatedFilter = `not_${keyof typeof VALUES}`;

const NEGATIONS = Object.fromEntries(
  Object.entries(VALUES).map(([name, filter]) => [`not_${name}`, negated(filter)]),
) as Record<NegatedFilter, Filter>;

/**
 * The filters of request log lists, analytics and exports, by parameter name. Names are those of the compatible API, with shorter ones
 * beside them. Costs are in cents, times in milliseconds.
 */
export const LOG_FILTERS = {
  time_of_generation_min: arrival('>='),
  time_of_generation_max: arrival('<='),
  created_at_min: arrival('>='),
  created_at_max: arrival('<='),
  ...bounds('total_units', TOTAL_TOKENS),
  ...bounds('cost', 'cost_nano_usd', NANO_USD_PER_CENT),
  ...bounds('prompt_token', 'input_tokens'),
  ...bounds('completion_token', 'output_tokens'),
  ...bounds('response_time', 'duration_ms'),
  ...bounds('time_to_first_token', 'first_token_ms'),
  status_code_min: statusBound('>='),
  status_code_max: statusBound('<='),
  weighted_feedback_min: weightedFeedback('>='),
  weighted_feedback_max: weightedFeedback('<='),
  has_feedback: hasFeedback,
  is_success: outcome,
  ...VALUES,
  ...NEGATIONS,
} as const satisfies Record<string, Filter>;

export type LogFilterName = keyof typeof LOG_FILTERS;

export function isLogFilter(name: string): name is LogFilterName {
  return Object.hasOwn(LOG_FILTERS, name);
}

/** The condition for a filter value. Rejects invalid values. */
export function conditionOf(name: LogFilterName, text: string): QueryCondition {
  const filter: Filter = LOG_FILTERS[name];
  // PostgreSQL's texts can hold any character but this one.
  const parameter = text.length <= FILTER_CHARS_MAX && !text.includes('\0') ? filter.read(text) : undefined;
  if (parameter === undefined) throw parameterError(name, `must be ${filter.expects}`);
  const values = valuesOf(name, parameter);
  const { sql, inClickHouse } = (values.some(isLabel) && filter.ofLabels) || filter;
  return {
    sql,
    parameter,
    inClickHouse,
    // Rollups of 0.1.0 have the first characters of longer values, so a value of that length may stand for several.
    on: values.some(({ length }) => length >= LONGEST_VALUE_OF_ROLLUPS)
      ? null
      : dimensionsOf(name, parameter, filter.on),
  };
}

/** The texts that a parameter consists of. */
function valuesOf(name: LogFilterName, parameter: unknown): readonly string[] {
  if (name === 'metadata' || name === 'not_metadata') return Object.values(pairsIn(parameter));
  return Array.isArray(parameter) ? (parameter as readonly string[]) : [String(parameter)];
}

const METADATA_KEY = /^(metadata|not_metadata)\[(.{1,128})\]$/s;

/** Whether a parameter is a filter, or `metadata[key]`. */
export const isFilterParameter = (name: string): boolean => isLogFilter(name) || METADATA_KEY.test(name);

/** The condition of a parameter: a filter, or `metadata[key]`. Undefined for other names. */
export function conditionOfParameter(name: string, value: string): QueryCondition | undefined {
  if (isLogFilter(name)) return conditionOf(name, value);
  const [, filter, key] = METADATA_KEY.exec(name) ?? [];
  if (filter === undefined || key === undefined || !isLogFilter(filter)) return undefined;
  return conditionOf(filter, JSON.stringify(Object.fromEntries([[key, value]])));
}

/** A filter on one metadata key uses that key's slice, which does not distinguish an empty value from an absent key. */
function dimensionsOf(
  name: LogFilterName,
  parameter: unknown,
  on: readonly string[] | undefined,
): readonly string[] | null {
  if (name !== 'metadata') return on ?? null;
  const [entry, ...others] = Object.entries(pairsIn(parameter));
  if (!entry || others.length > 0 || entry[1] === '') return null;
  return [entry[0] === USER_KEY ? 'end_user' : metadataSlice(entry[0])];
}
