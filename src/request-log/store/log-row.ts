import type { Usage } from '../../common/contracts/usage.js';
import { postgresType } from '../columns/log-column.js';
import { LOG_COLUMN_NAMES, LOG_COLUMNS, type LogColumnName } from '../columns/log-columns.js';
import type { AttemptRecord, HeaderPairs, RequestLogRecord } from '../record.js';
import type { ClosedExchange } from '../spool/frame-values.js';
import type { CopyColumn } from './copy-binary.js';

/** A body as stored, compressed or not, with its recorded facts. */
export interface StoredBody {
  readonly bytes: Buffer;
  /** The encoding to remove from `bytes` to get the transferred body; null for none. */
  readonly stored_encoding: 'br' | null;
  readonly original_bytes: number;
  readonly truncated: boolean;
  readonly content_type: string | null;
  /** The sender's own encoding, which remains underneath. */
  readonly content_encoding: string | null;
  /** The beginning of its text, for lists; null without a text. */
  readonly preview: string | null;
}

/** One request to be stored. */
export interface NewLogRow {
  readonly record: RequestLogRecord;
  readonly request: StoredBody | null;
  readonly response: StoredBody | null;
  /** The parsed frame, which is stored completely if the tables refuse the row. */
  readonly raw: { readonly closed: ClosedExchange; readonly request: Buffer; readonly response: Buffer };
}

/** A table that COPY fills: its rows are derived from those of a batch. */
export interface CopyTable<Row> {
  readonly name: string;
  readonly columns: readonly CopyColumn<Row>[];
  rowsOf(row: NewLogRow, batchId: string): readonly Row[];
}

/** The values of a request row beside its record. The record is not copied, which would take longer than writing it. */
interface RequestRow extends FurtherTries {
  readonly record: RequestLogRecord;
  readonly batch_id: string;
}
interface InsertedAttemptRow {
  readonly record: RequestLogRecord;
  readonly batch_id: string;
  readonly attempt: AttemptRecord;
}
interface InsertedBodyRow {
  readonly record: RequestLogRecord;
  readonly direction: 'request' | 'response';
  readonly headers: Readonly<Record<string, string>> | null;
  readonly body: StoredBody | null;
}

const OF_BATCH = { name: 'batch_id', type: 'uuid' } as const;

const TOKENS = [
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
] as const satisfies readonly (keyof Usage)[];

function tokens<Row>(usageOf: (row: Row) => Usage | null): CopyColumn<Row>[] {
  return TOKENS.map((name) => ({ name, type: 'int4', value: (row) => usageOf(row)?.[name] }));
}

/** Columns that are not fields of the record. */
type ComputedColumn = Exclude<LogColumnName, keyof RequestLogRecord>;

const COMPUTED: Readonly<Record<ComputedColumn, (row: RequestRow) => unknown>> = {
  batch_id: ({ batch_id }) => batch_id,
  retry_count: ({ retry_count }) => retry_count,
  fallback_count: ({ fallback_count }) => fallback_count,
  attempt_count: ({ record }) => record.attempts.length,
  ...(Object.fromEntries(
    TOKENS.map((name) => [name, ({ record }: RequestRow) => record.usage?.[name]]),
  ) as Record<(typeof TOKENS)[number], (row: RequestRow) => unknown>),
};

const isComputed = (name: LogColumnName): name is ComputedColumn => Object.hasOwn(COMPUTED, name);

const requestLogs: CopyTable<RequestRow> = {
  name: 'request_logs',
  columns: LOG_COLUMN_NAMES.map((name) => ({
    name,
    type: postgresType(LOG_COLUMNS[name]),
    value: isComputed(name) ? COMPUTED[name] : ({ record }) => record[name],
  })),
  rowsOf: ({ record }, batch_id) => [{ ...furtherTries(record.attempts), record, batch_id }],
};

const ofRequest = (
  name: keyof RequestLogRecord,
  type: CopyColumn<InsertedAttemptRow>['type'],
): CopyColumn<InsertedAttemptRow> => ({
  name,
  type,
  value: ({ record }) => record[name],
});

const ofAttempt = (
  type: CopyColumn<InsertedAttemptRow>['type'],
  ...names: (keyof AttemptRecord)[]
): CopyColumn<InsertedAttemptRow>[] =>
  names.map((name) => ({ name, type, value: ({ attempt }) => attempt[name] }));

const requestAttempts: CopyTable<InsertedAttemptRow> = {
  name: 'request_attempts',
  columns: [
    ofRequest('id', 'uuid'),
    ofRequest('created_at', 'timestamptz'),
    { ...OF_BATCH, value: ({ batch_id }) => batch_id },
    ofRequest('organisation_id', 'uuid'),
    ofRequest('workspace_id', 'uuid'),
    ...ofAttempt('int2', 'attempt', 'status'),
    ...ofAttempt('text', 'option_path', 'provider', 'origin', 'error_code'),
    ...ofAttempt('uuid', 'virtual_key_id'),
    ...ofAttempt('timestamptz', 'started_at'),
    ...ofAttempt('int4', 'first_byte_ms', 'duration_ms'),
    ...ofAttempt('int8', 'cost_nano_usd'),
    {
      name: 'charged',
      type: 'jsonb',
      value: ({ attempt }) => attempt.charges?.map(({ counter }) => counter),
    },
    ...ofAttempt('jsonb', 'price'),
    { name: 'estimated', type: 'bool', value: ({ attempt }) => attempt.isEstimated ?? false },
    ...tokens<InsertedAttemptRow>(({ attempt }) => attempt.usage),
  ],
  rowsOf: ({ record }, batch_id) => record.attempts.map((attempt) => ({ record, batch_id, attempt })),
};

const requestBodies: CopyTable<InsertedBodyRow> = {
  name: 'request_bodies',
  columns: [
    { name: 'request_id', type: 'uuid', value: ({ record }) => record.id },
    { name: 'created_at', type: 'timestamptz', value: ({ record }) => record.created_at },
    { name: 'direction', type: 'text', value: ({ direction }) => direction },
    { name: 'organisation_id', type: 'uuid', value: ({ record }) => record.organisation_id },
    { name: 'headers', type: 'jsonb', value: ({ headers }) => headers },
    { name: 'body', type: 'bytea', value: ({ body }) => body?.bytes },
    { name: 'content_type', type: 'text', value: ({ body }) => body?.content_type },
    { name: 'content_encoding', type: 'text', value: ({ body }) => body?.content_encoding },
    { name: 'stored_encoding', type: 'text', value: ({ body }) => body?.stored_encoding },
    {
      name: 'original_bytes',
      type: 'int8',
      value: ({ record, direction, body }) => body?.original_bytes ?? record[`${direction}_bytes`],
    },
    { name: 'truncated', type: 'bool', value: ({ body }) => body?.truncated ?? false },
    { name: 'preview', type: 'text', value: ({ body }) => body?.preview },
  ],
  rowsOf: ({ record, request, response }) => {
    const rows: readonly InsertedBodyRow[] = [
      { record, direction: 'request', headers: headersOf(record.request_headers), body: request },
      { record, direction: 'response', headers: headersOf(record.response_headers), body: response },
    ];
    return rows.filter(({ headers, body }) => body !== null || Object.keys(headers ?? {}).length > 0);
  },
};

/** Headers as an object with lower-case names; repeated fields are joined. */
function headersOf(pairs: HeaderPairs): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const name = (pairs[index] as string).toLowerCase();
    const value = pairs[index + 1] as string;
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** The tables of a batch, in insertion order. */
export const LOG_TABLES = [
  requestLogs,
  requestAttempts,
  requestBodies,
] as unknown as readonly CopyTable<unknown>[];

/** Attempts of a request after the first. */
interface FurtherTries {
  /** Attempts at the same target as the previous attempt. */
  readonly retry_count: number;
  /** Attempts at another target. */
  readonly fallback_count: number;
}

/** Derives retries and fallbacks from the attempts. */
export function furtherTries(all: readonly AttemptRecord[]): FurtherTries {
  const attempts = all.filter(({ isSideCall }) => !isSideCall);
  let fallback_count = 0;
  for (let index = 1; index < attempts.length; index++)
    if (!isSameTarget(attempts[index - 1], attempts[index])) fallback_count += 1;
  return { retry_count: Math.max(0, attempts.length - 1) - fallback_count, fallback_count };
}

/** The fields that identify a target. Two config entries may lead to the same upstream but are still two targets. */
const TARGET = ['option_path', 'provider', 'virtual_key_id', 'origin'] as const;

const isSameTarget = (one: AttemptRecord | undefined, other: AttemptRecord | undefined): boolean =>
  TARGET.every((field) => one?.[field] === other?.[field]);
