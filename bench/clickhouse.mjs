/**
 * Measures lists, exports and analytics on the engine of ClickHouse itself, in this process (chdb). Run `npm run build` and
 * `npm ci --prefix test/clickhouse` first.
 *
 *   node bench/clickhouse.mjs <folder> seed [rows = 10000000] [days = 30] [minutes = 13]
 *   node bench/clickhouse.mjs <folder> measure [times = 20] [only: a part of a name]
 *
 * Rows have the format of bench/seed-logs.mjs. ClickHouse generates those of the first day from numbers, 100,000 per insert, and the
 * materialized views count them like batches. Later days are copies with other ids, batches, traces and times, and so are their rollups:
 * counting takes nearly all of the time, and counts of a copy are copies. Seeding stops after the given minutes (exit code 3) and continues
 * when restarted with the same arguments. Queries use the classes of the service, with a PostgreSQL without waiting batches: this measures
 * ClickHouse and the reading of its results. All of them cover the seeded time, as if it ended now. Exports are read, encoded and written
 * to a file as in the background process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { AnalyticsService } from '../dist/admin/analytics/analytics.service.js';
import { GRAPHS } from '../dist/admin/analytics/graphs.js';
import { GROUPINGS } from '../dist/admin/analytics/groups.js';
import { GroupsService } from '../dist/admin/analytics/groups.service.js';
import { GroupsQuery, SeriesQuery } from '../dist/admin/analytics/analytics-query.dto.js';
import { readQuery } from '../dist/admin/http/read-query.js';
import { ClickHouseLogRows } from '../dist/admin/logs/rows/clickhouse-log-rows.js';
import { logQueryOf } from '../dist/admin/logs/rows/log-query.js';
import { ClickHouse } from '../dist/request-log/analytics/clickhouse/clickhouse.js';
import { ClickHouseUsageReader } from '../dist/request-log/analytics/clickhouse/clickhouse-usage-reader.js';
import { growingFile } from '../dist/jobs/exports/export-file.js';
import { exportColumns, ExportRows } from '../dist/jobs/exports/export-rows.js';
import { ExportWriter } from '../dist/jobs/exports/export-writer.js';
import { parquetOf } from '../dist/jobs/exports/parquet.js';

const [folder, what, ...rest] = process.argv.slice(2);
if (!folder || !['seed', 'measure'].includes(what)) {
  console.error(
    'usage: node bench/clickhouse.mjs <folder> seed [rows] [days] [minutes] | measure [times] [only]',
  );
  process.exit(1);
}
const { createChdbConnection } = createRequire(new URL('../test/clickhouse/package.json', import.meta.url))(
  'chdb/connection',
);
const client = createClient({ connection: createChdbConnection({ path: folder }) });
const clickhouse = new ClickHouse(client, {
  cluster: undefined,
  retentionDays: { logs: 90, bodies: 30, minutes: 90 },
});
const DAY_MS = 86_400_000;
const AT_ONCE = 100_000;
const ORGANIZATION = '01990000-0000-7000-8000-000000000001';
const WORKSPACE = '01990000-0000-7000-8000-000000000002';
const rowsIn = async (query) => (await client.query({ query, format: 'JSONEachRow' })).json();
const NOW = Math.floor(Date.now() / 60_000) * 60_000;

/** A number of rows of a day, in order of arrival. Few values are frequent and many are rare, as with users and models. */
const someOf = (day, first, count, perDay) => `
  INSERT INTO request_logs (id, batch_id, organisation_id, workspace_id, created_at, api_key_id, virtual_key, provider, model, endpoint, cache_status, ending,
    usage_source, trace_id, status, duration_ms, overhead_us, first_token_ms, input_tokens, output_tokens, cost_nano_usd, saved_nano_usd, retry_count, fallback_count,
    metadata, chosen_keys, response_model, option_path, method, path, streamed, request_bytes, response_bytes, attempt_count, has_metadata, is_whole)
  WITH number + ${first} AS n, ${day} * 1000003 + n AS seed, intDiv(n * 86400000000, ${perDay}) AS us,
    arrayElement([('openai', 'gpt-5'), ('openai', 'gpt-5-mini'), ('anthropic', 'claude-5'), ('google', 'gemini-3'), ('mistral-ai', 'large'), ('groq', 'llama-4'), ('openai', 'embed-3'), ('cohere', 'rerank-4')],
      1 + toUInt8(8 * pow((cityHash64(seed, 1) % 1000000) / 1000000, 3))) AS pair,
    toUInt8(20 * pow((cityHash64(seed, 2) % 1000000) / 1000000, 3)) AS api_key, toInt32(50 + cityHash64(seed, 3) % 3000) AS tokens_in, toInt32(cityHash64(seed, 4) % 800) AS tokens_out
  SELECT generateUUIDv4(n), toUUID('01990000-0000-7000-8000-${String(day).padStart(6, '0')}${String(first / AT_ONCE).padStart(6, '0')}'), toUUID('${ORGANIZATION}'),
    toUUID(if(api_key % 2 = 0, '${WORKSPACE}', '01990000-0000-7000-8000-000000000003')), fromUnixTimestamp64Micro(toInt64(${day} * 86400000000 + us), 'UTC'),
    toUUID(concat('01990000-0000-7000-8000-0000000001', leftPad(toString(api_key), 2, '0'))), concat(pair.1, '-prod'), pair.1, pair.2, 'chat-completions',
    arrayElement(CAST([NULL, NULL, 'MISS', 'HIT'], 'Array(Nullable(String))'), 1 + cityHash64(seed, 5) % 4), 'completed', 'provider', concat('trace-', toString(cityHash64(seed, 6) % 10000000)),
    arrayElement([200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 429, 500, 404], 1 + cityHash64(seed, 7) % 14), toInt32(150 + 20000 * pow((cityHash64(seed, 8) % 1000000) / 1000000, 4)),
    toInt32(200 + cityHash64(seed, 9) % 900), toInt32(80 + cityHash64(seed, 10) % 900), tokens_in, tokens_out, tokens_in * 1250 + tokens_out * 10000, 1000000, 0, 0,
    map('_user', concat('user-', toString(toUInt16(5000 * pow((cityHash64(seed, 11) % 1000000) / 1000000, 3)))), '_environment', if(cityHash64(seed, 12) % 2 = 0, 'live', 'test')), ['_environment'],
    pair.2, 'config', 'POST', '/v1/chat/completions', true, 900, 1800, 1, true, true
  FROM numbers(${count})`;

async function seed([rows = '10000000', days = '30', minutes = '13']) {
  const perDay = Math.ceil(Number(rows) / Number(days));
  const stopAt = Date.now() + Number(minutes) * 60_000;
  await clickhouse.read('SELECT 1 AS one', {});
  const today = Math.floor(NOW / DAY_MS);
  const there = new Map(
    (await rowsIn('SELECT _partition_id AS day, count() AS rows FROM request_logs GROUP BY day')).map(
      (each) => [each.day, Number(each.rows)],
    ),
  );
  const began = performance.now();
  const [source, ...others] = Array.from(
    { length: Number(days) },
    (_, index) => today - Number(days) + index,
  );
  let stored = 0;
  for (let first = there.get(nameOf(source)) ?? 0; first < perDay; first += AT_ONCE) {
    if (Date.now() > stopAt) return finish(stored, began, 3);
    const count = Math.min(AT_ONCE, perDay - first);
    await run(someOf(source, first, count, perDay));
    stored += count;
    tell(stored, began, `of day 1 of ${days}, counted by the views`);
  }
  const tables = await rowsIn(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'usage_%' AND engine LIKE '%MergeTree'",
  );
  for (const [index, day] of others.entries()) {
    if ((there.get(nameOf(day)) ?? 0) >= perDay) continue;
    if (Date.now() > stopAt) return finish(stored, began, 3);
    await copyDay(source, day, tables);
    stored += perDay;
    tell(stored, began, `with day ${index + 2} of ${days}`);
  }
  // As merges do in the background over the days in which such rows arrive.
  for (const { name } of await rowsIn(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
  ))
    await client.command({ query: `OPTIMIZE TABLE ${name}` });
  return finish(stored, began, 0);
}

const nameOf = (day) => new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
// The in-process engine keeps limits that were set for an earlier read.
const run = (query) => client.command({ query, clickhouse_settings: { max_execution_time: 0 } });
const tell = (stored, began, what) =>
  console.log(`${stored} rows in ${((performance.now() - began) / 1_000).toFixed(0)} s, ${what}`);

/** The rows come last, and all at once: a day without rows is copied again, whatever rollups it has. */
async function copyDay(source, day, rollups) {
  const later = `INTERVAL ${day - source} DAY`;
  const start = (of) => `toDateTime(${of * 86_400}, 'UTC')`;
  const within = (of) => `bucket >= ${start(of)} AND bucket < ${start(of + 1)}`;
  for (const { name } of rollups) {
    const [{ some }] = await rowsIn(`SELECT count() AS some FROM ${name} WHERE ${within(day)}`);
    if (Number(some) > 0)
      await run(`ALTER TABLE ${name} DELETE WHERE ${within(day)} SETTINGS mutations_sync = 1`);
    await run(
      `INSERT INTO ${name} SELECT * REPLACE (bucket + ${later} AS bucket) FROM ${name} WHERE ${within(source)}`,
    );
  }
  // Views count inserts but not attached partitions.
  await run('DROP TABLE IF EXISTS request_logs_of_a_day');
  await run('CREATE TABLE request_logs_of_a_day AS request_logs');
  const columns = (
    await rowsIn(
      "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'request_logs' AND default_kind = ''",
    )
  ).map(({ name }) => name);
  const changed = {
    id: 'generateUUIDv4()',
    batch_id: `toUUID(concat('01990000-0000-7000-8000-${String(day).padStart(6, '0')}', right(toString(batch_id), 6)))`,
    created_at: `created_at + ${later}`,
    trace_id: `concat('trace-', toString(cityHash64(trace_id, ${day}) % 10000000))`,
  };
  await run(`INSERT INTO request_logs_of_a_day (${columns.join(', ')})
    SELECT ${columns.map((name) => changed[name] ?? name).join(', ')} FROM request_logs
    WHERE _partition_id = '${nameOf(source)}' ORDER BY organisation_id, workspace_id, created_at
    SETTINGS prefer_column_name_to_alias = 1`);
  await run(`ALTER TABLE request_logs DROP PARTITION ${nameOf(day)}`);
  await run(`ALTER TABLE request_logs ATTACH PARTITION ${nameOf(day)} FROM request_logs_of_a_day`);
  await run('DROP TABLE request_logs_of_a_day');
}

async function finish(stored, began, code) {
  const seconds = (performance.now() - began) / 1_000;
  console.log(`${stored} rows in ${seconds.toFixed(0)} s, ${Math.round(stored / seconds)} rows/s`);
  console.log(
    await rowsIn(
      'SELECT table, sum(rows) AS rows, formatReadableSize(sum(bytes_on_disk)) AS disk, count() AS parts FROM system.parts WHERE active AND database = currentDatabase() GROUP BY table ORDER BY table',
    ),
  );
  return code;
}

async function measure([times = '20', only = '']) {
  const database = {
    read: async (sql) =>
      sql.includes('rollup_metadata_keys')
        ? [{ key: '_environment' }]
        : sql.includes('workspaces')
          ? [{ id: WORKSPACE, slug: 'ws-one' }]
          : [],
  };
  const kept = { conditions: async () => [], since: async () => -Infinity };
  const usage = new ClickHouseUsageReader(clickhouse, { database, kept, postgres: null }, { minutes: 90 });
  const analytics = new AnalyticsService(usage, null);
  const feedback = { byMetadata: async () => new Map() };
  const groups = new GroupsService(usage, feedback, { of: async () => new Map() }, null, null, null);
  const logs = new ClickHouseLogRows(clickhouse, {
    postgres: null,
    database,
    batches: { query: async () => [{ ids: null }] },
  });
  const reach = { organizationId: ORGANIZATION, own: [] };
  const inWorkspace = { ...reach, workspaceId: WORKSPACE };
  const taken = async (run) => {
    const ms = [];
    for (let time = 0; time < Number(times); time++) {
      const began = performance.now();
      await run();
      ms.push(performance.now() - began);
    }
    ms.sort((one, other) => one - other);
    return [0.5, 0.95].map((share) => ms[Math.ceil(ms.length * share) - 1].toFixed(0)).join(' / ');
  };
  // Table changes come first, and the parts that they rewrite in the background.
  await clickhouse.read('SELECT 1 AS one', {});
  const waiting = 'SELECT 1 AS one FROM system.mutations WHERE database = currentDatabase() AND NOT is_done';
  while ((await rowsIn(waiting)).length > 0) await sleep(500);
  const [{ rows, first, last }] = await rowsIn(
    'SELECT count() AS rows, toInt64(toUnixTimestamp64Milli(min(created_at))) AS first, toInt64(toUnixTimestamp64Milli(max(created_at))) AS last FROM request_logs',
  );
  const end = Math.ceil(Number(last) / 60_000) * 60_000;
  const hours = Math.ceil((end - Number(first)) / 3_600_000);
  const within = (some) => ({
    time_of_generation_min: new Date(end - some * 3_600_000).toISOString(),
    time_of_generation_max: new Date(end).toISOString(),
  });
  console.log(
    `${rows} requests\n\n| Operation | all ${Math.round(hours / 24)} days, p50 / p95 ms | 24 hours, p50 / p95 ms |\n|---|--:|--:|`,
  );
  const operations = [
    ...GRAPHS.map((graph) => [
      graph.name,
      (range) => analytics.graph(inWorkspace, readQuery(range, SeriesQuery), graph),
    ]),
    ...GRAPHS.filter(({ measures }) => measures.includes('duration_histogram')).map((graph) => [
      `${graph.name}, two filters`,
      (range) =>
        analytics.graph(
          inWorkspace,
          readQuery({ ...range, ai_model: 'gpt-5', status_code: '200' }, SeriesQuery),
          graph,
        ),
    ]),
    ...[...Object.keys(GROUPINGS), 'metadata/_not_counted'].map((name) => [
      `groups/${name}`,
      (range) => groups.read(inWorkspace, readQuery(range, GroupsQuery), name),
    ]),
  ];
  for (const [name, run] of operations.filter(([each]) => each.includes(only)))
    console.log(
      `| ${name} | ${await taken(() => run(within(hours)))} | ${await taken(() => run(within(24)))} |`,
    );
  const cursorAt = (share) => ({
    at: new Date(end - share * (end - Number(first))).toISOString().replace('Z', '000Z'),
    id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  });
  console.log('\n| List, 50 rows | first page | in the middle | near the end |\n|---|--:|--:|--:|');
  const LISTS = [
    {},
    { ai_model: 'gpt-5', status_code: '429' },
    { ai_model: 'rerank-4', status_code: '404' },
    { ai_model: 'there-is-none', status_code: '200' },
    { user: 'user-4990' },
    { user: 'user-4990', ai_model: 'gpt-5' },
    { user: 'there-is-none' },
  ];
  for (const [whose, where] of [
    ['workspace', inWorkspace],
    ['organization', reach],
  ])
    for (const filters of LISTS.filter(() => 'lists'.includes(only))) {
      const query = logQueryOf(filters);
      const cells = [];
      for (const after of [cursorAt(0), cursorAt(0.5), cursorAt(0.97)])
        cells.push(await taken(() => logs.list(where, { ...query, after })));
      console.log(`| ${whose}, ${new URLSearchParams(filters)} | ${cells.join(' | ')} |`);
    }
  if ('find'.includes(only)) {
    const [row] = await rowsIn('SELECT id, trace_id FROM request_logs LIMIT 1 OFFSET 1000');
    console.log(
      `\nby id: ${await taken(() => logs.find(reach, row.id))} ms; trace: ${await taken(() => logs.trace(reach, row.trace_id, 1_000))} ms`,
    );
  }
  if ('export'.includes(only)) await measureExports(logs, end);
  return 0;
}

const EXPORTED = {
  few: ['id', 'created_at', 'ai_model', 'total_units', 'cost'],
  usual: [
    ...[
      'id',
      'created_at',
      'trace_id',
      'ai_org',
      'ai_model',
      'req_units',
      'res_units',
      'cost',
      'response_time',
    ],
    ...['response_status_code', 'api_key_id', 'metadata'],
  ],
};
const EXPORT_MS = 8_000;

/** Without PostgreSQL's part of a step: the permission check, and the two commits of each piece. */
async function measureExports(logs, end) {
  const read = new ExportRows(
    logs,
    null,
    { conditions: async () => [] },
    { runFor: (_, work) => work() },
    { brought: async () => [] },
  );
  const temporary = mkdtempSync(join(folder, '..', 'gatehouse-exports-'));
  console.log('\n| Export | rows | read, rows/s | and written, rows/s |\n|---|--:|--:|--:|');
  for (const format of ['jsonl', 'csv', 'parquet'])
    for (const [name, requestedData] of Object.entries(EXPORTED)) {
      const wanted = { organizationId: ORGANIZATION, workspaceId: WORKSPACE, filters: {}, requestedData };
      const begin = { after: null, rows: 0, bytes: 0, run: 1, tries: 1 };
      const export_ = { ...wanted, ...begin, id: name, until: new Date(end), format, compression: 'none' };
      const began = performance.now();
      const sum = { rows: 0, readingMs: 0 };
      const writer = new ExportWriter(writing(export_, read, temporary, sum, began));
      await writer.write(name);
      const made = growingFile(temporary, export_);
      if (format === 'parquet') await parquetOf(made, `${made}.made`, exportColumns(export_));
      const perSecond = (ms) => Math.round((sum.rows * 1_000) / ms);
      console.log(
        `| ${format}, ${requestedData.length} fields | ${sum.rows} | ${perSecond(sum.readingMs)} | ${perSecond(performance.now() - began)} |`,
      );
    }
  rmSync(temporary, { recursive: true });
}

/** A writer's dependencies: leases and permissions are not measured here. It stops after eight seconds. */
function writing(export_, read, temporary, sum, began) {
  const step = async (...asked) => {
    const from = performance.now();
    const rows = await read.step(...asked);
    sum.readingMs += performance.now() - from;
    return rows;
  };
  const advance = async (_, { rows }) => {
    sum.rows = rows;
    return true;
  };
  return {
    leases: { claim: async () => export_, advance, release: async () => true },
    rows: { step },
    rights: { of: async () => ({ scopes: new Set(['logs.export']) }) },
    settings: { folder: temporary, limitBytes: Infinity },
    isStopping: () => performance.now() - began > EXPORT_MS,
    bucket: null,
  };
}

const code = await (what === 'seed' ? seed(rest) : measure(rest));
await client.close();
process.exit(code);
