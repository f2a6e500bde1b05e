/**
 * Two days of traffic before the screenshots. Rows are stored like all rows (COPY by `storeBatch`, then the rollups); only their content is
 * invented.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { uuidV7 } from '../../dist/common/ids/uuid-v7.js';
import { PostgresBatchAggregator } from '../../dist/request-log/analytics/postgres/postgres-batch-aggregator.js';
import { storeBatch } from '../../dist/request-log/store/store-batch.js';
import { createDataSource } from '../../dist/schema/data-source.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const BATCH = 2_000;
const PER_MINUTE = 20;
const EMPTY = Buffer.alloc(0);
/** The last key has only real requests, so its budget shows their cost. */
const KEYS_OF_HISTORY = 4;
/** Hours before now during which one provider fails. */
const INCIDENT = { from: 1.7, to: 0.4 };
/** Model, virtual key, nano-dollars per input and output token, and percentage of the requests. */
const MODELS = [
  ['gpt-5', 'openai-prod', 1_250, 10_000, 46],
  ['claude-sonnet-4-5', 'anthropic', 3_000, 15_000, 24],
  ['gpt-5-mini', 'openai-prod', 250, 2_000, 16],
  ['gemini-2.5-flash', 'google', 300, 2_500, 9],
  ['mistral-large-latest', 'mistral', 2_000, 6_000, 5],
];

let state = 42;
/** The same in every run. */
const next = (below) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const weighted = (all, weightOf) => {
  let at = next(100);
  return all.find((each) => (at -= weightOf(each)) < 0) ?? all[0];
};
const skewed = (count) => Math.floor(count * (next(1_000_000) / 1_000_000) ** 1.8);

/** More by day than by night. */
const loadAt = (at) => 0.62 + 0.38 * Math.sin((((at / 3_600_000) % 24) / 24) * 2 * Math.PI - 2);

/** Writes them up to the present, and returns how many there are. */
export async function seedHistory({ databaseUrl, bootstrap }, { keys, virtualKeys }) {
  const dataSource = await createDataSource(databaseUrl, 4, 'migrations').initialize();
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const aggregator = new PostgresBatchAggregator(dataSource);
  try {
    await makePartitions(dataSource);
    const rows = rowsOf({ bootstrap, keys, virtualKeys });
    for (let start = 0; start < rows.length; start += BATCH) {
      const batch = {
        writerId: randomUUID(),
        from: null,
        to: { segment: 1, offset: 1 },
        rows: rows.slice(start, start + BATCH),
      };
      const { batchId } = await storeBatch(pool, batch);
      await aggregator.aggregate(batchId);
    }
    return rows.length;
  } finally {
    await pool.end();
    await dataSource.destroy();
  }
}

/** Past days have no partitions by default. */
async function makePartitions(dataSource) {
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (const table of ['request_logs', 'request_attempts', 'request_bodies'])
    for (const day of [today - 2 * DAY_MS, today - DAY_MS]) {
      const name = new Date(day).toISOString().slice(0, 10);
      const following = new Date(day + DAY_MS).toISOString().slice(0, 10);
      await dataSource.query(
        `CREATE TABLE IF NOT EXISTS ${table}_${name.replaceAll('-', '')} PARTITION OF ${table}
         FOR VALUES FROM ('${name} 00:00:00+00') TO ('${following} 00:00:00+00')`,
      );
    }
}

function rowsOf(world) {
  const now = Date.now();
  const rows = [];
  for (let at = now - 2 * DAY_MS; at < now; at += MINUTE_MS) {
    const growth = at > now - DAY_MS ? 1.08 : 1;
    const count = Math.round(PER_MINUTE * loadAt(at) * growth * (0.7 + next(600) / 1_000));
    for (let n = 0; n < count; n++) rows.push(rowAt(at + next(MINUTE_MS), now, world));
  }
  return rows.sort((one, other) => one.record.created_at - other.record.created_at);
}

function statusAt(hoursAgo, virtualKey) {
  const isIncident = hoursAgo < INCIDENT.from && hoursAgo > INCIDENT.to;
  if (isIncident && next(100) < (virtualKey === 'mistral' ? 85 : 5)) return 502;
  const dice = next(1_000);
  if (dice < 6) return 429;
  if (dice < 9) return 400;
  return dice < 10 ? 502 : 200;
}

/** A request's outcome, duration and cost. */
function outcomeOf(status, [, , priceIn, priceOut]) {
  if (status >= 400)
    return { usage: null, cost_nano_usd: null, first_token_ms: null, duration_ms: 40 + next(900) };
  const usage = { input_tokens: 900 + next(8_600), output_tokens: 160 + next(1_500) };
  if (next(100) < 7) return { usage, cost_nano_usd: 0, first_token_ms: null, duration_ms: 3, isCached: true };
  const first_token_ms = 190 + next(420);
  return {
    usage,
    cost_nano_usd: usage.input_tokens * priceIn + usage.output_tokens * priceOut,
    first_token_ms,
    duration_ms: first_token_ms + Math.floor(2_600 * (next(1_000) / 1_000) ** 2),
  };
}

function rowAt(created_at, now, { bootstrap, keys, virtualKeys }) {
  const chosen = weighted(MODELS, ([, , , , weight]) => weight);
  const [model, slug] = chosen;
  const { id: virtual_key_id, provider } = virtualKeys.find((each) => each.slug === slug);
  const status = statusAt((now - created_at) / 3_600_000, slug);
  const { usage, cost_nano_usd, first_token_ms, duration_ms, isCached = false } = outcomeOf(status, chosen);
  const attempt = {
    ...{ attempt: 0, option_path: 'config', decisions: null, provider, virtual_key_id },
    ...{ origin: 'https://api.example.com', started_at: created_at, first_byte_ms: 90, duration_ms, status },
    ...{ error_code: null, usage, cost_nano_usd },
  };
  const record = {
    ...{ id: uuidV7(created_at), created_at, organisation_id: bootstrap.organisation_id },
    ...{ workspace_id: bootstrap.workspace_id, api_key_id: keys[skewed(KEYS_OF_HISTORY)].id, user_id: null },
    ...{
      config_id: null,
      config_version_id: null,
      option_path: 'config',
      decisions: null,
      hook_results: null,
    },
    ...{ trace_id: randomUUID(), span_id: null, parent_span_id: null, span_name: null },
    ...{ method: 'POST', path: '/v1/chat/completions', endpoint: 'chat-completions', provider, model },
    ...{ virtual_key: slug, virtual_key_id, streamed: true, metadata: { _user: `agent-${next(60)}` } },
    ...{ ending: 'completed', status, error_code: null, error_source: usage ? null : 'provider' },
    ...{ duration_ms, first_token_ms, overhead_us: 240 + next(400) },
    ...{ request_bytes: 900, response_bytes: 1_800, response_model: model },
    ...{ usage, usage_source: usage ? 'provider' : 'none', cost_nano_usd },
    ...{ cache_status: isCached ? 'HIT' : 'MISS', saved_nano_usd: isCached ? 4_000_000 : null },
    ...{ attempts: isCached ? [] : [attempt], countable: null, request_headers: [], response_headers: [] },
  };
  const closed = { record, request: null, response: null };
  return { ...closed, raw: { closed, request: EMPTY, response: EMPTY } };
}
