import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { RequestLogRecord } from '../record.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import type { NewLogRow } from './log-row.js';

/** A record that the tables refused, and the reason. */
export interface DeadLetter {
  readonly row: NewLogRow;
  readonly sqlstate: string | null;
  readonly reason: string;
}

/** Stores refused records completely, as bytes, in the transaction of their batch, for as long as their bodies would be kept. */
export async function keepDeadLetters(
  client: PoolClient,
  writerId: string,
  letters: readonly DeadLetter[],
): Promise<void> {
  for (const { row, sqlstate, reason } of letters)
    await client.query(
      `INSERT INTO request_log_dead_letters
         (id, request_id, writer_id, sqlstate, reason, record, request_body, response_body, organisation_id, workspace_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        randomUUID(),
        plain(row.record.id, 64),
        writerId,
        sqlstate,
        plain(reason, 1000),
        Buffer.from(JSON.stringify(row.raw.closed)),
        row.raw.request,
        row.raw.response,
        ownerIn(row.record.organisation_id),
        ownerIn(row.record.workspace_id),
      ],
    );
}

/** The record was parsed but not validated. Null when it is missing. */
const ownerIn = (id: unknown): string | null => (typeof id === 'string' && isUuid(id) ? id : null);

/** The numbers of a refused row and the texts that lists show, truncated and cleaned; no bodies, headers or metadata. */
export function reduced(row: NewLogRow): NewLogRow {
  const { record } = row;
  return {
    raw: row.raw,
    request: null,
    response: null,
    record: {
      ...record,
      ...(Object.fromEntries(
        SHORT_TEXTS.map((name) => [name, shortened(record[name])]),
      ) as Partial<RequestLogRecord>),
      trace_id: plain(record.trace_id, 64),
      metadata: null,
      request_headers: [],
      response_headers: [],
    },
  };
}

const SHORT_TEXTS = [
  'span_id',
  'parent_span_id',
  'span_name',
  'method',
  'path',
  'endpoint',
  'provider',
  'virtual_key',
  'model',
  'response_model',
] as const satisfies readonly (keyof RequestLogRecord)[];

function shortened(text: string | null): string | null {
  return text === null ? null : plain(text, 256);
}

/** The record was parsed but not validated: a value that is not a text must not throw here, on the error path. */
function plain(value: unknown, most: number): string {
  const text = typeof value === 'string' ? value : '';
  return text.slice(0, most).replace(/[^\x20-\x7e]/g, '?');
}
