/**
 * The administration under load: `npm run bench:admin`. Starts the service on a data folder, fills it unless it is full already, sends 50
 * reads and 10 audited writes per second, and measures the effect on the gateway.
 *
 *   npm run bench:admin -- --data <folder>      seeds once, and reuses the data next time
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { OPERATIONS, stepsOf } from './admin-mix.mjs';
import { ask, firstMessage, start, stopAll } from './children.mjs';
import { startGatehouse } from './contenders.mjs';
import { pinningFor } from './pinning.mjs';
import { allowedCores, commandLine, cpuMicroseconds, familyOf } from './proc.mjs';
import { profileWhile, tailWhile } from './profile.mjs';
import { chatRequest } from './request-bytes.mjs';
import { median } from './schedule.mjs';
import { seedAdministration } from './seed-admin.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const OPTIONS = {
  data: { type: 'string' },
  keys: { type: 'string', default: '100000' },
  workspaces: { type: 'string', default: '1000' },
  audit: { type: 'string', default: '100000' },
  reads: { type: 'string', default: '50' },
  writes: { type: 'string', default: '10' },
  seconds: { type: 'string', default: '20' },
  rounds: { type: 'string', default: '2' },
  'seed-only': { type: 'boolean', default: false },
  profile: { type: 'boolean', default: false },
  tail: { type: 'boolean', default: false },
  assert: { type: 'boolean', default: false },
};
const TAIL_PRELOAD = new URL('tail-preload.mjs', import.meta.url).href;
const WARM_UP_SECONDS = 6;
const GATEWAY_SECONDS = 6;
const PROFILE_SECONDS = 8;
const P95_MS = 100;

async function main() {
  const { values } = parseArgs({ options: OPTIONS });
  const numbers = Object.fromEntries(
    ['keys', 'workspaces', 'audit', 'reads', 'writes', 'seconds', 'rounds'].map((name) => [
      name,
      Number(values[name]),
    ]),
  );
  const folder = folderFor(values.data);
  try {
    await measure({ ...values, ...numbers, data: folder.path });
  } finally {
    await stopAll();
    folder.leave();
  }
}

/** A temporary folder is removed at the end. Readable for others: an embedded database may run as another user. */
function folderFor(named) {
  const path = named ?? mkdtempSync(join(tmpdir(), 'gatehouse-bench-admin-'));
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o755);
  return {
    path,
    leave: () => (named === undefined ? rmSync(path, { recursive: true, force: true }) : undefined),
  };
}

async function measure(options) {
  const program = (file) => start([process.execPath, join(HERE, file)], { ipc: true });
  const upstream = program('upstream.mjs');
  const { port: upstreamPort } = await firstMessage(upstream);
  const [clients, administrators] = [program('load.mjs'), program('load.mjs')];
  const service = await startGatehouse(
    {
      upstream: { port: upstreamPort },
      pinning: pinningFor(1, false),
      profile: options.profile || options.tail,
      ...(options.tail ? { preload: TAIL_PRELOAD } : {}),
      dataDir: options.data,
    },
    1,
  );
  try {
    const world = await prepared(service, options);
    if (options['seed-only']) return;
    const bench = { service, world, clients, administrators, options };
    const figures = await run(bench);
    report(figures, options);
    if (options.assert && figures.verdicts.some(({ pass }) => !pass)) process.exitCode = 1;
  } finally {
    await service.stop();
  }
}

/** Loads the requested rows into memory, as after a day of use and not as after a start. The newest come last, so that they stay cached. */
async function warmUp(client) {
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_prewarm');
  const { rows } = await client.query(
    `SELECT sum(pg_prewarm(each.oid)) AS blocks FROM unnest('{audit_records,workspaces,api_keys}'::regclass[]) WITH ORDINALITY AS of (table_oid, place)
     CROSS JOIN LATERAL (SELECT table_oid AS oid UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = table_oid) AS each`,
  );
  say(`${Math.round(rows[0].blocks / 128)} MiB of tables are in memory`);
  await client.query('DROP EXTENSION pg_prewarm');
}

/** Fills the database unless it is full, and reads the data that requests refer to. */
async function prepared({ port, headers, admin }, { data, keys, workspaces, audit }) {
  const url = readFileSync(join(data, 'run', 'database_url'), 'utf8').trim();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const has = async (table) => Number((await client.query(`SELECT count(*) FROM ${table}`)).rows[0].count);
    const missing = {
      keys: Math.max(0, keys - (await has('api_keys'))),
      workspaces: Math.max(0, workspaces - (await has('workspaces'))),
      audit: Math.max(0, audit - (await has('audit_records'))),
    };
    const { master_key: masterKey } = JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8'));
    if (missing.keys + missing.workspaces + missing.audit > 0)
      await seedAdministration({ url, masterKey, ...missing });
    await warmUp(client);
    const ids = async (sql) => (await client.query(sql)).rows.map(({ id }) => id);
    const someKeys = await ids(
      "SELECT id FROM api_keys TABLESAMPLE SYSTEM (20) WHERE kind = 'workspace-service' AND deleted_at IS NULL AND previous_key_hash IS NULL AND name LIKE 'Key %' LIMIT 20000",
    );
    return {
      port,
      adminKey: admin.keys.admin_api_key,
      virtualKey: headers['x-gateway-virtual-key'],
      // Enough keys to miss every cache. A key is revoked or rotated once: a second time is refused.
      keyIds: someKeys.filter((_, index) => index % 3 === 0),
      rotatedIds: someKeys.filter((_, index) => index % 3 === 1),
      doomedIds: someKeys.filter((_, index) => index % 3 === 2),
      workspaceIds: await ids(
        "SELECT id FROM workspaces WHERE slug LIKE 'ws-seeded-%' ORDER BY random() LIMIT 2000",
      ),
      keys: Number(
        (await client.query('SELECT count(*) FROM api_keys WHERE deleted_at IS NULL')).rows[0].count,
      ),
      workspaces: await has('workspaces'),
      audit: await has('audit_records'),
      now: new Date().toISOString(),
    };
  } finally {
    await client.end();
  }
}

async function run({ service, world, clients, administrators, options }) {
  const { reads, writes } = options;
  const administer = async (seconds) => {
    const steps = stepsOf(world, { reads, writes, seconds });
    return resultOf(await ask(administrators, { kind: 'open', port: service.port, steps }));
  };
  const serve = async () => {
    const request = chatRequest(service.port, service.headers, { stream: false });
    return resultOf(
      await ask(clients, {
        kind: 'closed',
        port: service.port,
        request,
        concurrency: 64,
        seconds: GATEWAY_SECONDS,
      }),
    );
  };
  say('warming up');
  await administer(WARM_UP_SECONDS);
  say(`${reads} reads and ${writes} writes a second, ${options.seconds} s`);
  const used = usage(service, administrators);
  const work = () => administer(options.seconds);
  const load = options.tail ? await tailWhile(service, administrationOf(service), work) : await work();
  const cores = used();
  if (options.profile)
    await profileWhile(service, administrationOf(service), options.data, () => administer(PROFILE_SECONDS));
  const gateway =
    options.rounds > 0 ? await gatewayBeside({ serve, administer, rounds: options.rounds }) : null;
  return { load, cores, gateway, verdicts: judged({ load, cores, gateway }) };
}

/** In turn, so that noise of the machine affects both. */
async function gatewayBeside({ serve, administer, rounds }) {
  say('the gateway alone, and beside that load');
  await serve();
  const [alone, beside] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    alone.push(await serve());
    const [served] = await Promise.all([serve(), administer(GATEWAY_SECONDS)]);
    beside.push(served);
  }
  return { alone: perSecond(alone), beside: perSecond(beside), errors: errorsOf([...alone, ...beside]) };
}

const say = (text) => console.error(`bench: ${text}`);
const perSecond = (slots) => median(slots.map(({ requestsPerSecond }) => requestsPerSecond));
const errorsOf = (slots) => slots.reduce((sum, { errors }) => sum + errors, 0);

function resultOf({ result, failure }) {
  if (failure) throw new Error(failure);
  return result;
}

const PROCESSES = { gateway: '/main.js', administration: '/administration.js', background: '/worker.js' };

function administrationOf(service) {
  return familyOf(service.supervisorPid).find((pid) => kindOf(pid) === 'administration');
}

function kindOf(pid) {
  const command = commandLine(pid);
  const [kind] =
    Object.entries(PROCESSES).find(([, file]) => command.some((part) => part.endsWith(file))) ?? [];
  return kind ?? (command[0]?.includes('postgres') ? 'database' : 'supervisor');
}

/**
 * Cores used by each kind of process from now until the returned function is called: the load generator shares its cores with the service.
 */
function usage({ supervisorPid }, generator) {
  const reading = () => {
    const spent = { generator: cpuMicroseconds([generator.pid]) };
    for (const pid of familyOf(supervisorPid))
      spent[kindOf(pid)] = (spent[kindOf(pid)] ?? 0) + cpuMicroseconds([pid]);
    return { at: performance.now(), spent };
  };
  const before = reading();
  return () => {
    const after = reading();
    const elapsedUs = (after.at - before.at) * 1000;
    const cores = Object.entries(after.spent).map(([kind, us]) => [
      kind,
      (us - (before.spent[kind] ?? 0)) / elapsedUs,
    ]);
    return Object.fromEntries(cores);
  };
}

function judged({ load, cores, gateway }) {
  const operations = Object.entries(load.operations);
  const slowest = Math.max(...operations.map(([, { p95 }]) => p95)) / 1000;
  const errors = load.errors + (gateway?.errors ?? 0);
  return [
    { target: 'errors: none', value: `${errors}`, pass: errors === 0 },
    {
      target: `p95 of every operation below ${P95_MS} ms`,
      value: `${slowest.toFixed(1)} ms`,
      pass: slowest < P95_MS,
    },
    ...(gateway ? [judgedBeside(gateway, cores)] : []),
  ];
}

function judgedBeside({ alone, beside }, cores) {
  const share = beside / alone;
  const least = 1 - sum(Object.values(cores)) / allowedCores().length;
  const target = `the gateway keeps what the cores that the load takes leave it: at least ${least.toFixed(2)} ×`;
  return { target, value: `${share.toFixed(2)} ×`, pass: share >= least };
}

const sum = (values) => values.reduce((total, each) => total + each, 0);
const ms = (us) => (us / 1000).toFixed(1);

function report({ load, cores, gateway, verdicts }, { keys, workspaces, audit, reads, writes }) {
  const lines = [
    `\n${keys} keys, ${workspaces} workspaces, ${audit} audit records; ${reads} reads and ${writes} writes a second for ${load.seconds.toFixed(0)} s, ${allowedCores().length} cores\n`,
    '| Operation | requests | p50 | p95 | p99 | most, ms |\n|---|--:|--:|--:|--:|--:|',
    ...OPERATIONS.filter(({ name }) => load.operations[name]).map(({ name }) => {
      const { count, p50, p95, p99, max } = load.operations[name];
      return `| ${name} | ${count} | ${ms(p50)} | ${ms(p95)} | ${ms(p99)} | ${ms(max)} |`;
    }),
    `\nCores: ${Object.entries(cores)
      .map(([kind, used]) => `${kind} ${used.toFixed(2)}`)
      .join(', ')}; together ${sum(Object.values(cores)).toFixed(2)}`,
    ...(gateway
      ? [
          `Gateway: ${gateway.alone.toFixed(0)} requests/s alone, ${gateway.beside.toFixed(0)} beside the load`,
        ]
      : []),
    ...(load.errors > 0 ? [`Errors: ${JSON.stringify(load.problems)}`] : []),
    '\n| Target | Value | |\n|---|--:|---|',
    ...verdicts.map(
      ({ target, value, pass }) => `| ${target} | ${value} | ${pass ? 'reached' : '**missed**'} |`,
    ),
  ];
  console.log(lines.join('\n'));
}

await main();
