import type { ExportFieldName } from '../../common/contracts/log-export.js';
import type { LogRow } from '../../common/database/log-reading/log-row.js';

/** A message of the exchange, as an export shows it. */
export interface ExportedMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A request with what an export may show of it. Messages are read only where a field wants them. */
export interface ExportedRequest {
  readonly row: LogRow;
  readonly request: ExportedMessage;
  readonly response: ExportedMessage;
}

/** `json` is a value in JSON Lines and text of JSON in a cell. */
export type FieldType = 'text' | 'whole' | 'number' | 'truth' | 'time' | 'json';

export interface ExportField {
  readonly type: FieldType;
  readonly of: (exported: ExportedRequest) => unknown;
  /** Needs headers and bodies. */
  readonly isMessage?: true;
}

const NANO_USD_PER_CENT = 10_000_000;

const field = (type: FieldType, of: (row: LogRow) => unknown): ExportField => ({
  type,
  of: ({ row }) => of(row),
});
const isSuccess = ({ status }: LogRow): boolean => status >= 200 && status < 300;

function totalOf({ input_tokens, output_tokens }: LogRow): number | null {
  return input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0) + (output_tokens ?? 0);
}

/**
 * What can be asked for, by the names of the compatible API (`requested_data`), with some of ours behind them. Costs
 * are in cents, times in milliseconds; what is unknown is null.
 */
export const EXPORT_FIELDS = {
  id: field('text', ({ id }) => id),
  trace_id: field('text', ({ trace_id }) => trace_id),
  created_at: field('time', ({ created_at }) => created_at.toISOString()),
  request: {
    type: 'json',
    of: ({ row: { path, method }, request }) => ({ url: path, method, ...request }),
    isMessage: true,
  },
  response: {
    type: 'json',
    of: ({ row: { status, duration_ms }, response }) => ({ status, responseTime: duration_ms, ...response }),
    isMessage: true,
  },
  is_success: field('truth', isSuccess),
  ai_org: field('text', ({ provider }) => provider),
  ai_model: field('text', ({ model }) => model),
  req_units: field('whole', ({ input_tokens }) => input_tokens),
  res_units: field('whole', ({ output_tokens }) => output_tokens),
  total_units: field('whole', totalOf),
  request_url: field('text', ({ path }) => path),
  cost: field('number', ({ cost_nano_usd }) =>
    cost_nano_usd === null ? null : Number(cost_nano_usd) / NANO_USD_PER_CENT,
  ),
  cost_currency: field('text', () => 'USD'),
  response_time: field('whole', ({ duration_ms }) => duration_ms),
  response_status_code: field('whole', ({ status }) => status),
  mode: field('text', ({ endpoint }) => endpoint ?? 'proxy'),
  config: field('text', ({ config_id }) => config_id),
  prompt_slug: field('text', ({ prompt_slug }) => prompt_slug),
  metadata: field('json', ({ metadata }) => metadata),
  span_id: field('text', ({ span_id }) => span_id),
  parent_span_id: field('text', ({ parent_span_id }) => parent_span_id),
  span_name: field('text', ({ span_name }) => span_name),
  api_key_id: field('text', ({ api_key_id }) => api_key_id),
  virtual_key: field('text', ({ virtual_key }) => virtual_key),
  error_code: field('text', ({ error_code }) => error_code),
  cache_status: field('text', ({ cache_status }) => cache_status),
  cache_score: field('number', ({ cache_score }) => cache_score),
} as const satisfies Record<ExportFieldName, ExportField>;

export const isExportField = (name: string): name is ExportFieldName => Object.hasOwn(EXPORT_FIELDS, name);
