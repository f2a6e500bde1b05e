import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { aggregatorOn, clickHouseUnderTest } from './usage-store.js';

/** Columns of `request_logs` that a test may choose. */
export interface StoredRequest {
  readonly id?: string;
  readonly created_at?: Date;
  readonly organisation_id?: string;
  readonly workspace_id?: string | null;
  readonly api_key_id?: string;
  readonly virtual_key_id?: string | null;
  readonly virtual_key?: string | null;
  readonly config_id?: string | null;
  readonly config_version_id?: string | null;
  readonly decisions?: readonly string[] | null;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly parent_span_id?: string;
  readonly provider?: string | null;
  readonly model?: string | null;
  readonly endpoint?: string | null;
  readonly status?: number;
  readonly usage_source?: string;
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cached_input_tokens?: number | null;
  readonly reasoning_tokens?: number | null;
  readonly cost_nano_usd?: number | null;
  readonly duration_ms?: number;
  readonly first_token_ms?: number | null;
  readonly attempt_count?: number;
  readonly metadata?: Readonly<Record<string, string>> | null;
  readonly dropped_parameters?: readonly string[] | null;
  readonly service_tier?: string | null;
}

export interface StoreOptions {
  /** Age of the batch in seconds. */
  readonly ageS?: number;
  readonly batchId?: string;
}

const TENANT = { organisation_id: randomUUID(), workspace_id: randomUUID(), api_key_id: randomUUID() };

function row(request: StoredRequest) {
  return {
    id: uuidV7(Date.now()),
    created_at: new Date(),
    ...TENANT,
    virtual_key_id: null,
    virtual_key: null,
    config_id: null,
    config_version_id: null,
    decisions: null,
    trace_id: 'trace',
    method: 'POST',
    path: '/v1/chat/completions',
    provider: 'openai',
    model: 'gpt',
    endpoint: 'chat-completions',
    streamed: false,
    ending: 'completed',
    status: 200,
    usage_source: 'provider',
    input_tokens: 10,
    output_tokens: 5,
    cached_input_tokens: null,
    reasoning_tokens: null,
    cost_nano_usd: 1_000,
    duration_ms: 120,
    first_token_ms: 20,
    overhead_us: 300,
    request_bytes: 100,
    response_bytes: 200,
    attempt_count: 1,
    metadata: null,
    dropped_parameters: null,
    service_tier: null,
    ...request,
  };
}

let stored = 0;

/**
 * Stores a batch as the shipper does: rows and the row of the batch in one transaction. Answers its id. Where ClickHouse is
 * under test, every other batch is inserted there, and the others still wait for it.
 */
export async function storeBatch(
  database: DataSource,
  requests: readonly StoredRequest[],
  { ageS = 0, batchId = uuidV7(Date.now()) }: StoreOptions = {},
): Promise<string> {
  const rows = requests.map((request) => ({ ...row(request), batch_id: batchId }));
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  await database.transaction(async (manager) => {
    await manager.query(
      `INSERT INTO request_logs (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::request_logs, $1)`,
      [JSON.stringify(rows)],
    );
    await manager.query(
      `INSERT INTO log_batches (id, created_at, rows, min_created_at, max_created_at)
       SELECT $1, now() - make_interval(secs => $2), count(*), min(created_at), max(created_at)
       FROM request_logs WHERE batch_id = $1`,
      [batchId, ageS],
    );
  });
  const clickhouse = clickHouseUnderTest();
  if (clickhouse && stored++ % 2 === 0) await aggregatorOn(database, clickhouse).aggregate(batchId);
  return batchId;
}

export interface StoredMessage {
  readonly direction: 'request' | 'response';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | null;
  readonly content_type?: string | null;
  readonly content_encoding?: string | null;
  readonly stored_encoding?: string | null;
  readonly truncated?: boolean;
}

/** Adds headers and bodies to a stored request. */
export async function storeMessages(
  database: DataSource,
  id: string,
  messages: readonly StoredMessage[],
): Promise<void> {
  for (const { direction, headers = null, body = null, ...more } of messages)
    await database.query(
      `INSERT INTO request_bodies (request_id, created_at, organisation_id, direction, headers, body, content_type,
         content_encoding, stored_encoding, original_bytes, truncated)
       SELECT id, created_at, organisation_id, $2, $3, $4, $5, $6, $7, $8, $9 FROM request_logs WHERE id = $1`,
      [
        id,
        direction,
        headers,
        body,
        more.content_type ?? null,
        more.content_encoding ?? null,
        more.stored_encoding ?? null,
        body?.length ?? 0,
        more.truncated ?? false,
      ],
    );
}

/** Adds attempts to a stored request, all to the same provider. */
export async function storeAttempts(
  database: DataSource,
  id: string,
  statuses: readonly number[],
): Promise<void> {
  for (const [attempt, status] of statuses.entries())
    await database.query(
      `INSERT INTO request_attempts (id, created_at, attempt, batch_id, organisation_id, workspace_id, provider, origin,
         started_at, duration_ms, status, cost_nano_usd)
       SELECT id, created_at, $2, batch_id, organisation_id, workspace_id, 'openai', 'https://api.openai.com',
         created_at, 100, $3, 500 FROM request_logs WHERE id = $1`,
      [id, attempt, status],
    );
}
