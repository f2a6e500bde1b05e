import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { RequestLogRecord } from '../../src/request-log/record.js';
import { storeBatch } from '../../src/request-log/store/store-batch.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';

/** A record as the data plane writes it. */
export function aRecord(
  given: Partial<RequestLogRecord> & { readonly created_at: number },
): RequestLogRecord {
  const attempt = {
    attempt: 0,
    option_path: 'config',
    decisions: null,
    provider: given.provider ?? 'openai',
    virtual_key_id: null,
    origin: 'https://api.example.com',
    started_at: given.created_at,
    first_byte_ms: 10,
    duration_ms: 100,
    status: given.status ?? 200,
    error_code: null,
    usage: null,
    cost_nano_usd: null,
  };
  return {
    id: uuidV7(given.created_at),
    organisation_id: randomUUID(),
    workspace_id: randomUUID(),
    api_key_id: randomUUID(),
    user_id: null,
    config_id: null,
    config_version_id: null,
    option_path: 'config',
    decisions: null,
    hook_results: null,
    trace_id: randomUUID(),
    span_id: null,
    parent_span_id: null,
    span_name: null,
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat-completions',
    provider: 'openai',
    virtual_key: null,
    virtual_key_id: null,
    model: 'gpt',
    streamed: false,
    metadata: null,
    ending: 'completed',
    status: 200,
    error_code: null,
    error_source: null,
    duration_ms: 100,
    first_token_ms: null,
    overhead_us: 300,
    request_bytes: 100,
    response_bytes: 200,
    response_model: null,
    usage: { input_tokens: 10, output_tokens: 5 },
    usage_source: 'provider',
    cost_nano_usd: 1_000,
    attempts: [attempt],
    countable: null,
    request_headers: [],
    response_headers: [],
    ...given,
  };
}

/** Stores records as the shipper does, `size` to a batch. Answers the ids of the batches. */
export async function storeRecords(
  url: string,
  records: readonly RequestLogRecord[],
  size = 500,
): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const nothing = Buffer.alloc(0);
  const batches: string[] = [];
  try {
    for (let start = 0; start < records.length; start += size) {
      const rows = records.slice(start, start + size).map((record) => ({
        record,
        request: null,
        response: null,
        raw: { closed: { record, request: null, response: null }, request: nothing, response: nothing },
      }));
      const to = { segment: 1, offset: 1 };
      const stored = await storeBatch(pool, { writerId: randomUUID(), from: null, to, rows });
      if (!stored?.batchId || stored.rows !== rows.length) throw new Error('The batch was not stored whole.');
      batches.push(stored.batchId);
    }
  } finally {
    await pool.end();
  }
  return batches;
}
