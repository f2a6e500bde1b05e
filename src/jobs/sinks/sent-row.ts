import { columnsWith, type ColumnsWith } from '../../request-log/columns/log-columns.js';
import type { AttemptRow } from '../../request-log/reading/attempt-row.js';
import type { LogRow } from '../../request-log/reading/log-row.js';

/** Columns of `request_logs` that sinks receive. */
const OF_REQUEST = columnsWith('isSent');

/** Columns of `request_attempts` that sinks receive. */
const OF_ATTEMPT = [
  'attempt',
  'option_path',
  'provider',
  'virtual_key_id',
  'origin',
  'started_at',
  'first_byte_ms',
  'duration_ms',
  'status',
  'error_code',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
] as const satisfies readonly (keyof AttemptRow)[];

/** For sinks, times are texts and 64-bit numbers are numbers. */
type RowForSinks<Row> = {
  readonly [Name in keyof Row]: Row[Name] extends Date
    ? string
    : Name extends keyof typeof SHOWN_AS_NUMBER
      ? number | Extract<Row[Name], null>
      : Row[Name];
};

/** An attempt of a request, as sinks receive it. Names are those of the table. */
export type SentAttempt = RowForSinks<Pick<AttemptRow, (typeof OF_ATTEMPT)[number]>>;

/**
 * A request as sinks receive it: the row and its attempts, without headers and bodies. Times are ISO 8601, durations milliseconds, money
 * integer nano-dollars. `id` identifies the request permanently: receivers can use it to drop duplicates.
 */
export interface SentRow extends RowForSinks<Pick<LogRow, ColumnsWith<{ readonly isSent: true }>>> {
  readonly attempts: readonly SentAttempt[];
}

const isoOf = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ${column}`;

/** Integers beyond 2^53 do not occur: that would be nine million dollars for one request. */
const numberOf = (column: string): string => `${column}::float8 AS ${column}`;

/** Columns of 64 bits, which the driver returns as text. */
const SHOWN_AS_NUMBER = {
  request_bytes: numberOf,
  response_bytes: numberOf,
  cost_nano_usd: numberOf,
  saved_nano_usd: numberOf,
};

const SHOWN: Readonly<Record<string, (column: string) => string>> = {
  created_at: isoOf,
  started_at: isoOf,
  ...SHOWN_AS_NUMBER,
};

const shown = (columns: readonly string[]): string =>
  columns.map((column) => SHOWN[column]?.(column) ?? column).join(', ');

/** The days of the batches are bounded too, so that the database opens no other partitions. */
const OF_BATCHES = 'batch_id = ANY ($1::uuid[]) AND created_at BETWEEN $2::timestamptz AND $3::timestamptz';

export const ROWS_OF_BATCHES = `
  SELECT ${shown(OF_REQUEST)} FROM request_logs WHERE ${OF_BATCHES} ORDER BY request_logs.created_at, id`;

export const ATTEMPTS_OF_BATCHES = `
  SELECT id, ${shown(OF_ATTEMPT)} FROM request_attempts WHERE ${OF_BATCHES} ORDER BY id, attempt`;

export const HOOK_RESULTS_OF_BATCHES = `
  SELECT id, hook_results FROM request_logs WHERE ${OF_BATCHES} AND hook_results IS NOT NULL`;
