/**
 * Fills the request log for measurements: rows are stored like all rows (COPY by `storeBatch`, the aggregation of batches, the derivation
 * of hours and days), and only their content is invented. Run `npm run build` first.
 *
 *   DATABASE_URL=postgres://… [SEED_MINUTES=13] node bench/seed-logs.mjs [rows = 1000000] [days = 30]
 *
 * The rows belong to the first organization of the database, whose service should not ship or aggregate meanwhile. With SEED_MINUTES it
 * stops after that time (exit code 3); restarted with the same arguments, it continues after the last stored batch.
 */
import { createHash, randomUUID } from 'node:crypto';
import pg from 'pg';
import { createDataSource } from '../dist/schema/data-source.js';
import { storeBatch } from '../dist/request-log/store/store-batch.js';
import { uuidV7 } from '../dist/common/ids/uuid-v7.js';
import { deriveRipe } from '../dist/request-log/rollups/derive.js';
import { PostgresBatchAggregator } from '../dist/request-log/analytics/postgres/postgres-batch-aggregator.js';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const DAYS = Number(process.argv[3] ?? 30);
const BATCH = 5_000;
/** Maximum number of batches stored ahead of counting; waiting batches are counted together, as under heavy traffic. */
const AHEAD = 16;
const DAY_MS = 86_400_000;
const STOP_AT = Date.now() + Number(process.env.SEED_MINUTES ?? 1e6) * 60_000;
const url = process.env.DATABASE_URL;
if (!url || !(ROWS > 0) || !(DAYS > 0)) {
  console.error('usage: DATABASE_URL=postgres://… node bench/seed-logs.mjs [rows] [days]');
  process.exit(1);
}

let state = 42;
const next = (below) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const pick = (values) => values[next(values.length)];
/** Few values are frequent and many are rare, as with users and models. */
const skewed = (count) => Math.floor(count * (next(1_000_000) / 1_000_000) ** 3);

const MODELS = [
  ['openai', 'gpt-5'],
  ['openai', 'gpt-5-mini'],
  ['anthropic', 'claude-5'],
  ['google', 'gemini-3'],
  ['mistral-ai', 'large'],
  ['groq', 'llama-4'],
  ['openai', 'embed-3'],
  ['cohere', 'rerank-4'],
];
const EMPTY = Buffer.alloc(0);

function rowAt(created_at, { organisation_id, workspaces, keys }) {
  const [provider, model] = MODELS[skewed(MODELS.length)];
  const key = skewed(keys.length);
  const status = pick([200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 429, 500, 404]);
  const usage = { input_tokens: 50 + next(3_000), output_tokens: next(800) };
  const duration_ms = 150 + Math.floor(20_000 * (next(1_000_000) / 1_000_000) ** 4);
  const attempt = {
    attempt: 0,
    option_path: 'config',
    provider,
    virtual_key_id: null,
    origin: 'https://api.example.com',
    started_at: created_at,
    first_byte_ms: 90,
    duration_ms,
    status,
    error_code: null,
    usage,
    cost_nano_usd: null,
  };
  const record = {
    id: uuidV7(created_at),
    created_at,
    organisation_id,
    workspace_id: workspaces[key % workspaces.length],
    api_key_id: keys[key],
    user_id: null,
    config_id: null,
    config_version_id: null,
    option_path: 'config',
    trace_id: `trace-${next(ROWS)}`,
    span_id: null,
    parent_span_id: null,
    span_name: null,
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat-completions',
    provider,
    virtual_key: `${provider}-prod`,
    virtual_key_id: null,
    model,
    streamed: true,
    metadata: { _user: `user-${skewed(5_000)}`, _environment: pick(['live', 'test']) },
    ending: 'completed',
    status,
    error_code: null,
    error_source: null,
    duration_ms,
    first_token_ms: 80 + next(900),
    overhead_us: 200 + next(900),
    request_bytes: 900,
    response_bytes: 1_800,
    response_model: model,
    usage,
    usage_source: 'provider',
    cost_nano_usd: usage.input_tokens * 1_250 + usage.output_tokens * 10_000,
    cache_status: pick([null, null, 'MISS', 'HIT']),
    saved_nano_usd: 1_000_000,
    attempts: [attempt],
    countable: null,
    request_headers: [],
    response_headers: [],
  };
  return { record, request: null, response: null, raw: { closed: null, request: EMPTY, response: EMPTY } };
}

const started = Date.now();
function progress(done, what) {
  const seconds = Math.max(1, (Date.now() - started) / 1_000);
  const line = `${what}: ${Math.floor((done / ROWS) * 100)} % (${done} rows, ${Math.round((done - earlier.rows) / seconds)} rows/s)`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line}   `);
  else console.error(line);
}

const pool = new pg.Pool({ connectionString: url, max: 2 });
const dataSource = await createDataSource(url, 4, 'migrations').initialize();
const aggregator = new PostgresBatchAggregator(dataSource);
const [organization] = await dataSource.query('SELECT id FROM organizations ORDER BY created_at LIMIT 1');
const workspaces = (
  await dataSource.query('SELECT id FROM workspaces WHERE organization_id = $1', [organization.id])
).map(({ id }) => id);
/** The same in every part of the seeding. */
const keyOf = (n) =>
  createHash('sha256')
    .update(`key ${n}`)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
const tenant = {
  organisation_id: organization.id,
  workspaces,
  keys: Array.from({ length: 20 }, (_, n) => keyOf(n)),
};
const [earlier] = await dataSource.query(
  'SELECT coalesce(sum(rows), 0)::int AS rows, min(min_created_at) AS first FROM log_batches',
);
const from = earlier.first ? new Date(earlier.first).getTime() : Date.now() - DAYS * DAY_MS;
state += earlier.rows;
// Past days have no partitions by default, and rows in a default partition would measure something else.
for (const table of ['request_logs', 'request_attempts', 'request_bodies'])
  for (let at = from; at < Date.now() + DAY_MS; at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10);
    const following = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
    await dataSource.query(
      `CREATE TABLE IF NOT EXISTS ${table}_${day.replaceAll('-', '')} PARTITION OF ${table} FOR VALUES FROM ('${day} 00:00:00+00') TO ('${following} 00:00:00+00')`,
    );
  }
// Metadata keys are counted from when they were chosen; here that is before the first row.
if (earlier.rows === 0)
  await dataSource.query(
    "UPDATE rollup_metadata_keys SET counted_since = '-infinity', complete_since = '-infinity'",
  );
// Stored but not counted by an interrupted part.
for (const { id } of await dataSource.query('SELECT id FROM log_batches WHERE aggregated_at IS NULL'))
  await aggregator.aggregate(id);
const counted = [];
let done = earlier.rows;
for (; done < ROWS && Date.now() < STOP_AT; done += BATCH) {
  const rows = Array.from({ length: Math.min(BATCH, ROWS - done) }, (_, at) =>
    rowAt(from + Math.floor(((done + at) / ROWS) * DAYS * DAY_MS), tenant),
  );
  const stored = await storeBatch(pool, {
    writerId: randomUUID(),
    from: null,
    to: { segment: 1, offset: 1 },
    rows,
  });
  counted.push(aggregator.aggregate(stored.batchId));
  if (counted.length > AHEAD) await counted.shift();
  if ((done / BATCH) % 10 === 9) progress(done + rows.length, 'stored');
}
await Promise.all(counted);
if (done < ROWS) {
  progress(done, 'stopped');
  await dataSource.destroy();
  await pool.end();
  process.exit(3);
}
await deriveRipe(dataSource, 0);
// As autovacuum would have done over the days in which such rows arrive.
await dataSource.query('VACUUM (ANALYZE)');
const [sizes] = await dataSource.query(
  'SELECT (SELECT count(*) FROM usage_minute) AS minutes, (SELECT count(*) FROM usage_day) AS days, (SELECT count(*) FROM usage_slice_day) AS slice_days',
);
progress(ROWS, 'done');
console.error(
  `\n${Math.round((Date.now() - started) / 1_000)} s; rows of usage_minute, usage_day, usage_slice_day: ${sizes.minutes}, ${sizes.days}, ${sizes.slice_days}`,
);
await dataSource.destroy();
await pool.end();
