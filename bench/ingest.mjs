/**
 * Measures how fast request logs move from the spool to the tables and analytics of a running service under load. Rows are written like
 * gateway processes write them (two frames each, new content, one write per event loop turn), at a steady rate, into the spool of the
 * service; its own background process does the rest.
 *
 *   node bench/ingest.mjs <base url> <data folder> [rows/s = 5000] [seconds = 60] [requests/s served meanwhile = 100]
 *
 * `lag` is the age of the oldest row that is not stored yet; `counted` the same for rows not yet in the analytics.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { SpoolLogSink } from '../dist/adapters/spool-log-sink.js';
import { uuidV7 } from '../dist/common/ids/uuid-v7.js';
import { commandLine, cpuMicroseconds, familyOf } from './proc.mjs';
import { serveBeside } from './serve-beside.mjs';

const [base, folder, rate = '5000', seconds = '60', servedPerSecond = '100'] = process.argv.slice(2);
if (!base || !folder) {
  console.error('usage: node bench/ingest.mjs <base url> <data folder> [rows/s] [seconds] [requests/s]');
  process.exit(1);
}
const RATE = Number(rate);
const SECONDS = Number(seconds);
const SERVED = Number(servedPerSecond);
const WRITERS = 2;
const TICK_MS = 10;
const bootstrap = JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8'));
const client = new pg.Client({
  connectionString: readFileSync(join(folder, 'run', 'database_url'), 'utf8').trim(),
});
await client.connect();

/** 1 KiB of JSON that does not compress better than real conversations: words from a small vocabulary. */
const VOCABULARY = Array.from({ length: 2_000 }, () => randomBytes(3).toString('hex'));
const word = () => VOCABULARY[Math.floor(Math.random() * VOCABULARY.length)];
const text = (bytes) => {
  let out = '';
  while (out.length < bytes) out += `${word()} `;
  return out.slice(0, bytes);
};
const TEXTS = Array.from({ length: 500 }, () => text(900));
const bodyOf = (object) => {
  const bytes = Buffer.from(JSON.stringify(object));
  return {
    chunks: [bytes],
    bytes: bytes.length,
    truncated: false,
    content_type: 'application/json',
    content_encoding: null,
  };
};
const MODELS = ['gpt-4o-mini', 'gpt-4o', 'gpt-5', 'gpt-5-mini'];
/** Prepared once: the writer shares its cores with the measured processes. */
const REQUESTS = TEXTS.map((content, at) =>
  bodyOf({ model: MODELS[at % MODELS.length], messages: [{ role: 'user', content }] }),
);
const ANSWERS = TEXTS.map((content, at) =>
  bodyOf({
    id: `chatcmpl-${randomBytes(12).toString('hex')}`,
    object: 'chat.completion',
    model: MODELS[at % MODELS.length],
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 200, completion_tokens: 150 },
  }),
);
const trace = `ingest-${Date.now()}`;
const headers = [
  'content-type',
  'application/json',
  'user-agent',
  'OpenAI/JS 6.49.0',
  'accept',
  'application/json',
  'x-gateway-virtual-key',
  'openai-prod',
];
let written = 0;

function exchange(sink) {
  const created_at = Date.now();
  const model = MODELS[written % MODELS.length];
  const opened = {
    id: uuidV7(created_at),
    created_at,
    organisation_id: bootstrap.organisation_id,
    workspace_id: bootstrap.workspace_id,
    api_key_id: bootstrap.workspace_id,
    user_id: null,
    trace_id: trace,
    span_id: null,
    parent_span_id: null,
    span_name: null,
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat-completions',
    provider: 'openai',
    virtual_key: 'openai-prod',
    virtual_key_id: null,
    model,
    streamed: false,
    metadata: { _user: `user-${Math.floor(Math.random() * 1_000)}`, _environment: 'live' },
  };
  const usage = { input_tokens: 200 + (written % 700), output_tokens: 150 };
  const cost_nano_usd = usage.input_tokens * 150 + usage.output_tokens * 600;
  const duration_ms = 300 + Math.random() * 4_000;
  sink.open(opened);
  sink.close(
    {
      ...opened,
      config_id: null,
      config_version_id: null,
      option_path: 'config',
      decisions: null,
      ending: 'completed',
      status: written % 50 === 0 ? 429 : 200,
      error_code: null,
      error_source: null,
      duration_ms,
      first_token_ms: null,
      overhead_us: 250,
      request_bytes: 1024,
      response_bytes: 1024,
      response_model: model,
      usage,
      usage_source: 'provider',
      cost_nano_usd,
      cache_status: null,
      saved_nano_usd: null,
      hook_results: null,
      attempts: [
        {
          attempt: 0,
          option_path: 'config',
          provider: 'openai',
          virtual_key_id: null,
          origin: 'https://api.openai.com:443',
          started_at: created_at,
          first_byte_ms: 200,
          duration_ms,
          status: 200,
          error_code: null,
          usage,
          cost_nano_usd,
        },
      ],
      countable: null,
      request_headers: headers,
      response_headers: headers,
    },
    {
      request: REQUESTS[written % REQUESTS.length],
      response: ANSWERS[(written * 7) % ANSWERS.length],
    },
  );
  written += 1;
}

const logger = pino({ level: 'error' });
const sinks = Array.from(
  { length: WRITERS },
  () => new SpoolLogSink({ spool: join(folder, 'spool'), logger }),
);
const supervisor = JSON.parse(readFileSync(join(folder, 'gatehouse.lock'), 'utf8')).pid;
const roleOf = (pid) => {
  const line = commandLine(pid).join(' ');
  return /worker\.js/.test(line)
    ? 'background process'
    : /postgres/.test(line)
      ? 'PostgreSQL'
      : /main\.js/.test(line)
        ? 'gateway'
        : 'other';
};
const cpuByRole = () => {
  const roles = {};
  for (const pid of familyOf(supervisor))
    roles[roleOf(pid)] = (roles[roleOf(pid)] ?? 0) + cpuMicroseconds([pid]);
  return roles;
};
const sizesOf = async () => {
  const { rows } = await client.query(`
    SELECT regexp_replace(coalesce(parent.relname, child.relname), '_(minute|hour|day)$', '_*') AS name, sum(pg_table_size(child.oid))::bigint AS rows, sum(pg_indexes_size(child.oid))::bigint AS indexes
    FROM pg_class AS child LEFT JOIN pg_inherits ON inhrelid = child.oid LEFT JOIN pg_class AS parent ON parent.oid = inhparent
    WHERE child.relkind = 'r' AND child.relnamespace = 'public'::regnamespace
      AND (coalesce(parent.relname, child.relname) ~ '^(request_|usage_|log_batches|spool_cursors|rollup_)') GROUP BY 1`);
  return new Map(
    rows.map(({ name, rows: heap, indexes }) => [name, { rows: Number(heap), indexes: Number(indexes) }]),
  );
};

const sizesBefore = await sizesOf();
const cpuBefore = cpuByRole();
const began = Date.now();
const end = began + SECONDS * 1_000;
/** Number of rows written by each time, every tenth of a second. */
const history = [[began, 0]];
const beside = serveBeside({ base, key: bootstrap.workspace_api_key, perSecond: SERVED, until: end });

async function write() {
  while (Date.now() < end) {
    const due = Math.floor(((Date.now() - began) / 1_000) * RATE);
    while (written < due) exchange(sinks[written % WRITERS]);
    if (Date.now() - history.at(-1)[0] >= 100) history.push([Date.now(), written]);
    await sleep(TICK_MS);
  }
  history.push([Date.now(), written]);
}

const ageOf = (rows) => {
  const reached = history.find(([, count]) => count > rows);
  return reached ? Math.max(0, Date.now() - reached[0]) : 0;
};
const STATE = `SELECT coalesce(sum(rows), 0)::int AS stored, coalesce(sum(rows) FILTER (WHERE aggregated_at IS NOT NULL), 0)::int AS counted FROM log_batches WHERE created_at >= $1`;
const lags = { stored: [], counted: [] };
let last = { stored: 0, counted: 0 };
async function watch() {
  for (let isOver = false; !isOver;) {
    await sleep(500);
    const { rows } = await client.query(STATE, [new Date(began)]);
    last = rows[0];
    // Includes rows of requests served meanwhile; they are few.
    const own = beside.arrived();
    lags.stored.push(ageOf(last.stored - own));
    lags.counted.push(ageOf(last.counted - own));
    isOver = (Date.now() > end && last.counted - own >= written) || Date.now() > end + 60_000;
  }
}
const finished = watch();
await write();
const lastWrite = Date.now();
const served = await beside.done;
const requests = written + beside.arrived();
await finished;
const settled = Date.now();
await Promise.all(sinks.map((sink) => sink.shutdown()));

const at = (values, share) => {
  const sorted = [...values].sort((one, other) => one - other);
  return (sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0).toFixed(0);
};
const told = (values) => `p50 ${at(values, 0.5)} ms, p95 ${at(values, 0.95)} ms, most ${at(values, 1)} ms`;
const {
  rows: [kept],
} = await client.query(
  'SELECT (SELECT count(*) FROM request_logs WHERE trace_id = $1)::int AS rows, (SELECT count(DISTINCT id) FROM request_logs WHERE trace_id = $1)::int AS ids',
  [trace],
);
console.log(
  `${written} rows in ${((lastWrite - began) / 1_000).toFixed(1)} s (${Math.round((written * 1_000) / (lastWrite - began))}/s); all counted ${((settled - lastWrite) / 1_000).toFixed(1)} s after the last`,
);
console.log(`lag stored: ${told(lags.stored)}`);
console.log(`lag counted: ${told(lags.counted)}`);
console.log(`kept: ${kept.rows} rows, ${kept.ids} ids of ${written}`);
const failures = Object.entries(served.failures).map(([reason, times]) => `${times} × ${reason}`);
console.log(
  `served meanwhile: ${served.milliseconds.length} requests, ${told(served.milliseconds)}; failed: ${failures.join(', ') || 'none'}`,
);
const cpuAfter = cpuByRole();
for (const [role, used] of Object.entries(cpuAfter))
  console.log(`CPU ${role}: ${((used - (cpuBefore[role] ?? 0)) / requests).toFixed(0)} µs a row`);
const sizesAfter = await sizesOf();
for (const [name, size] of sizesAfter) {
  const before = sizesBefore.get(name) ?? { rows: 0, indexes: 0 };
  const perRow = (kind) => ((size[kind] - before[kind]) / requests).toFixed(0);
  if (size.rows > before.rows)
    console.log(`bytes a request in ${name}: ${perRow('rows')} rows, ${perRow('indexes')} indexes`);
}
await client.end();
process.exit(kept.rows === written && kept.ids === written && failures.length === 0 ? 0 : 2);
