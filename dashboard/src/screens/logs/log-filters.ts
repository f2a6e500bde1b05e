import type { LogConditions } from '../../api/logs';
import type { Filter, FilterField, Operator } from '../../parts/filters/filter';
import { words } from '../../words/en';

const { filters: names } = words.logs;

interface LogField extends FilterField {
  /** The parameter of `GET /v1/logs`, or for a number the prefix of its two parameters. */
  readonly parameter: string;
}

const EQUAL: readonly Operator[] = ['is', 'not'];
const BETWEEN: readonly Operator[] = ['min', 'max'];
const options = (...values: readonly string[]) => values.map((value) => ({ value, label: value }));

export const LOG_FIELDS: readonly LogField[] = [
  { key: 'status', parameter: 'status_code', label: names.status, operators: [...EQUAL, ...BETWEEN] },
  {
    key: 'success',
    parameter: 'is_success',
    label: names.success,
    operators: ['is'],
    options: options('true', 'false'),
  },
  { key: 'model', parameter: 'model', label: names.model, operators: EQUAL },
  { key: 'provider', parameter: 'provider', label: names.provider, operators: EQUAL },
  { key: 'virtual_key', parameter: 'virtual_key', label: names.virtualKey, operators: EQUAL },
  { key: 'api_key', parameter: 'api_key_id', label: names.apiKey, operators: EQUAL },
  { key: 'config', parameter: 'config', label: names.config, operators: EQUAL },
  { key: 'error', parameter: 'error_code', label: names.errorCode, operators: EQUAL },
  {
    key: 'ending',
    parameter: 'ending',
    label: names.ending,
    operators: EQUAL,
    options: options(
      'completed',
      'refused',
      'client_aborted',
      'upstream_failed',
      'upstream_truncated',
      'gateway_crashed',
    ),
  },
  {
    key: 'cache',
    parameter: 'cache_status',
    label: names.cache,
    operators: EQUAL,
    options: options('HIT', 'SEMANTIC HIT', 'MISS', 'DISABLED'),
  },
  { key: 'endpoint', parameter: 'endpoint', label: names.endpoint, operators: EQUAL },
  { key: 'tier', parameter: 'service_tier', label: names.tier, operators: EQUAL },
  { key: 'latency', parameter: 'response_time', label: names.latency, operators: BETWEEN },
  { key: 'cost', parameter: 'cost', label: names.cost, operators: BETWEEN },
  { key: 'first_token', parameter: 'time_to_first_token', label: names.firstToken, operators: BETWEEN },
  { key: 'tokens', parameter: 'total_units', label: names.tokens, operators: BETWEEN },
  { key: 'user', parameter: 'user', label: names.user, operators: EQUAL },
  { key: 'trace', parameter: 'trace_id', label: names.trace, operators: EQUAL },
  { key: 'prompt', parameter: 'prompt_slug', label: names.prompt, operators: EQUAL },
  { key: 'metadata', parameter: 'metadata', label: names.metadata, operators: EQUAL },
];

/** The parameter name for a field and an operator. */
const PARAMETER_NAMES: Readonly<Record<Operator, (parameter: string) => string>> = {
  is: (parameter) => parameter,
  not: (parameter) => `not_${parameter}`,
  min: (parameter) => `${parameter}_min`,
  max: (parameter) => `${parameter}_max`,
};

/** The parameters for these filters. Values of two filters with the same parameter become one list. */
export function conditionsOf(filters: readonly Filter[]): LogConditions {
  const conditions: Record<string, string> = {};
  for (const { field, operator, value } of filters) {
    const parameter = LOG_FIELDS.find(({ key }) => key === field)?.parameter;
    if (parameter === undefined) continue;
    const name = PARAMETER_NAMES[operator](parameter);
    const before = conditions[name];
    const isList = EQUAL.includes(operator) && parameter !== 'metadata';
    conditions[name] = before !== undefined && isList ? `${before},${value}` : value;
  }
  return conditions;
}
