import type { ExportType } from '../../request-log/columns/log-column.js';
import { columnsWith, LOG_COLUMNS } from '../../request-log/columns/log-columns.js';
import type { CompatibleField, ExportedColumn, ExportFieldName } from '../../request-log/log-export.js';
import { isSuccess, type LogRow } from '../../request-log/reading/log-row.js';

/** A message of the exchange as exported. */
export interface ExportedMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The columns of the log that fields are computed from. */
export type ExportColumn = Exclude<keyof LogRow, 'workspace_slug'>;

type ExportedRow = Pick<LogRow, ExportColumn>;

/** The exportable content of a request. Columns and messages are read only if a field needs them. */
export interface ExportedRequest {
  readonly row: ExportedRow;
  readonly request: ExportedMessage;
  readonly response: ExportedMessage;
}

export interface ExportField {
  readonly type: ExportType;
  /** The columns that `of` may read. */
  readonly columns: readonly ExportColumn[];
  readonly of: (exported: ExportedRequest) => unknown;
  /** Requires headers and bodies. */
  readonly isMessage?: true;
}

const NANO_USD_PER_CENT = 10_000_000;
/** Length of an ISO 8601 time without its zone, to the millisecond. */
const LENGTH_TO_MS = '2026-01-31T23:59:59.999'.length;

const made = <Column extends ExportColumn>(
  type: ExportType,
  columns: readonly Column[],
  of: (row: Pick<ExportedRow, Column>) => unknown,
): ExportField => ({ type, columns, of: ({ row }) => of(row) });

/** A column unchanged. */
const column = (type: ExportType, name: ExportColumn): ExportField => made(type, [name], (row) => row[name]);

function totalOf({
  input_tokens,
  output_tokens,
}: Pick<LogRow, 'input_tokens' | 'output_tokens'>): number | null {
  return input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0) + (output_tokens ?? 0);
}

const COMPATIBLE_FIELDS: Readonly<Record<CompatibleField, ExportField>> = {
  created_at: made('time', ['at'], ({ at }) => `${at.slice(0, LENGTH_TO_MS)}Z`),
  request: {
    type: 'json',
    columns: ['path', 'method'],
    of: ({ row: { path, method }, request }) => ({ url: path, method, ...request }),
    isMessage: true,
  },
  response: {
    type: 'json',
    columns: ['status', 'duration_ms'],
    of: ({ row: { status, duration_ms }, response }) => ({ status, responseTime: duration_ms, ...response }),
    isMessage: true,
  },
  is_success: made('truth', ['status'], isSuccess),
  ai_org: column('text', 'provider'),
  ai_model: column('text', 'model'),
  req_units: column('whole', 'input_tokens'),
  res_units: column('whole', 'output_tokens'),
  total_units: made('whole', ['input_tokens', 'output_tokens'], totalOf),
  request_url: column('text', 'path'),
  cost: made('number', ['cost_nano_usd'], ({ cost_nano_usd }) =>
    cost_nano_usd === null ? null : Number(cost_nano_usd) / NANO_USD_PER_CENT,
  ),
  cost_currency: made('text', [], () => 'USD'),
  response_time: column('whole', 'duration_ms'),
  response_status_code: column('whole', 'status'),
  mode: made('text', ['endpoint'], ({ endpoint }) => endpoint ?? 'proxy'),
  config: column('text', 'config_id'),
};

const COLUMNS = Object.fromEntries(
  columnsWith('exported').map((name) => [name, column(LOG_COLUMNS[name].exported, name)]),
) as Record<ExportedColumn, ExportField>;

/**
 * The available fields: columns under their own names, and the fields of the compatible API. Costs are in cents, times in milliseconds;
 * unknown values are null.
 */
export const EXPORT_FIELDS: Readonly<Record<ExportFieldName, ExportField>> = {
  ...COLUMNS,
  ...COMPATIBLE_FIELDS,
};

export const isExportField = (name: string): name is ExportFieldName => Object.hasOwn(EXPORT_FIELDS, name);
