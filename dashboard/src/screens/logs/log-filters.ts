import type { LogConditions } from '../../api/logs';
import type { Filter, FilterField, Operator } from '../../parts/filters/filter';
import { words } from '../../words/en';

const { filters: names } = words.logs;

interface LogField extends FilterField {
  /** The parameter of `GET /v1/logs`, or for a number the beginning of its two parameters. */
  readonly parameter: string;
}

const EQUAL: readonly Operator[] = ['is'];
const BETWEEN: readonly Operator[] = ['min', 'max'];
const options = (...values: readonly string[]) => values.map((value) => ({ value, label: value }));

export const LOG_FIELDS: readonly LogField[] = [
  { key: 'status', parameter: 'status_code', label: names.status, operators: EQUAL },
  {
    key: 'success',
    parameter: 'is_success',
    label: names.success,
    operators: EQUAL,
    options: options('true', 'false'),
  },
  { key: 'model', parameter: 'model', label: names.model, operators: EQUAL },
  { key: 'provider', parameter: 'provider', label: names.provider, operators: EQUAL },
  { key: 'virtual_key', parameter: 'virtual_key', label: names.virtualKey, operators: EQUAL },
  { key: 'api_key', parameter: 'api_key_id', label: names.apiKey, operators: EQUAL },
  { key: 'config', parameter: 'config', label: names.config, operators: EQUAL },
  { key: 'error', parameter: 'error_code', label: names.errorCode, operators: EQUAL },
  {
    key: 'cache',
    parameter: 'cache_status',
    label: names.cache,
    operators: EQUAL,
    options: options('HIT', 'SEMANTIC HIT', 'MISS', 'DISABLED'),
  },
  { key: 'endpoint', parameter: 'endpoint', label: names.endpoint, operators: EQUAL },
  { key: 'latency', parameter: 'response_time', label: names.latency, operators: BETWEEN },
  { key: 'cost', parameter: 'cost', label: names.cost, operators: BETWEEN },
  { key: 'tokens', parameter: 'total_units', label: names.tokens, operators: BETWEEN },
  { key: 'user', parameter: 'user', label: names.user, operators: EQUAL },
  { key: 'trace', parameter: 'trace_id', label: names.trace, operators: EQUAL },
  { key: 'prompt', parameter: 'prompt_slug', label: names.prompt, operators: EQUAL },
  { key: 'metadata', parameter: 'metadata', label: names.metadata, operators: EQUAL },
];

/** The parameters that mean these filters. Two filters on one field that cannot both be sent become one list. */
export function conditionsOf(filters: readonly Filter[]): LogConditions {
  const conditions: Record<string, string> = {};
  for (const { field, operator, value } of filters) {
    const parameter = LOG_FIELDS.find(({ key }) => key === field)?.parameter;
    if (parameter === undefined) continue;
    const name = operator === 'is' ? parameter : `${parameter}_${operator}`;
    const before = conditions[name];
    conditions[name] =
      before !== undefined && operator === 'is' && name !== 'metadata' ? `${before},${value}` : value;
  }
  return conditions;
}
