/**
 * The capacity plan of docs/capacity.md: measured rates from other pages, multiplied by a plan. Change a number here when its page changes.
 *
 *   node scripts/capacity-table.mjs [requests a month = 1e9] [gateway instances = 20]
 */
import { fileURLToPath } from 'node:url';

const DAY_S = 86_400;
const MONTH_DAYS = 30;
const GB = 1e9;

/** What the plan assumes. */
const PLAN = {
  requests: { value: 1e9, what: 'requests a month of 30 days' },
  instances: { value: 20, what: 'API instances' },
  cores: { value: 2, what: 'cores, and gateway processes, per instance' },
  peak: { value: 5, what: 'times the average, at the peak' },
  seconds: { value: 10, what: 'seconds that a response streams' },
  logDays: { value: 30, what: 'days that requests are kept' },
  bodyDays: { value: 7, what: 'days that bodies are kept, 1 KB in and 1 KB out' },
  diskGb: { value: 4_000, what: 'GB of disk for PostgreSQL' },
  poolSize: { value: 8, what: '`DATABASE_POOL_SIZE`' },
};

/** What was measured, and where. */
const MEASURED = {
  requestsPerCore: [17_363, 'requests/s of a gateway process on its core', 'benchmarks.md'],
  streamsPerCore: [512, 'streams per gateway process without a stall, 50 events/s each', 'benchmarks.md'],
  storedPerSecond: [
    5_000,
    'rows/s stored and counted by one background process and one PostgreSQL, two cores for both',
    'benchmarks-logs.md#ingest',
  ],
  storingCores: [0.0002, 'core seconds to store and count a row', 'sizing.md#machine'],
  rowBytes: [1_150, 'bytes of a request and its attempt', 'sizing.md#bytes-a-request'],
  bodyBytes: [2_460, 'bytes of its bodies', 'sizing.md#bytes-a-request'],
  rollupBytes: [
    526,
    'bytes of rollups a request, from 10,000,000 a day in a workspace',
    'sizing.md#bytes-of-analytics',
  ],
  connections: [
    (processes, poolSize) => 20 + (processes + 2) * (poolSize + 12),
    'PostgreSQL connections an instance needs: 20 + (processes + 2) × (pool + 12)',
    'database.md',
  ],
};

const planOf = (changes) =>
  Object.fromEntries(Object.entries(PLAN).map(([name, { value }]) => [name, changes[name] ?? value]));
const rates = Object.fromEntries(Object.entries(MEASURED).map(([name, [value]]) => [name, value]));

/** A resource: what the plan needs of it, what there is, and by which traffic it grows. */
function resourcesOf(plan) {
  const average = plan.requests / (MONTH_DAYS * DAY_S);
  const peak = average * plan.peak;
  const cores = plan.instances * plan.cores;
  const perDay = plan.requests / MONTH_DAYS;
  const disk = (bytes, days) => (perDay * days * bytes) / GB;
  const rows = disk(rates.rowBytes, plan.logDays);
  const bodies = disk(rates.bodyBytes, plan.bodyDays);
  const rollups = disk(rates.rollupBytes, plan.logDays);
  return [
    ['requests/s of the gateways, at the peak', peak, cores * rates.requestsPerCore],
    ['concurrent streams, at the peak', peak * plan.seconds, cores * rates.streamsPerCore],
    ['rows/s stored and counted, at the peak', peak, rates.storedPerSecond],
    ['GB in PostgreSQL: rows, bodies and rollups', rows + bodies + rollups, plan.diskGb],
    ['GB in PostgreSQL with ClickHouse: rows and bodies', rows + bodies, plan.diskGb],
    [
      'GB in PostgreSQL with ClickHouse and bodies in it: rows, and bodies of a day',
      rows + disk(rates.bodyBytes, 1),
      plan.diskGb,
    ],
    ['GB in PostgreSQL with ClickHouse, bodies in a bucket: rows', rows, plan.diskGb],
  ].map(([name, needed, available]) => ({
    name,
    needed,
    available,
    share: needed / available,
    fullAt: (plan.requests * available) / needed,
  }));
}

const number = (value) => Math.round(value).toLocaleString('en-US');
const percent = (share) => `${share < 0.01 ? '< 1' : Math.round(share * 100)} %`;
const large = (value) => `${(value / 1e9).toLocaleString('en-US', { maximumSignificantDigits: 2 })} billion`;
const row = (...cells) => `| ${cells.join(' | ')} |`;

/** The tables of the page. */
export function capacityTables(changes = {}) {
  const plan = planOf(changes);
  const average = plan.requests / (MONTH_DAYS * DAY_S);
  const resources = resourcesOf(plan).sort((one, other) => other.share - one.share);
  const needed = rates.connections(plan.cores, plan.poolSize);
  return [
    [row('Assumption', 'Value'), row('---', '--:')],
    Object.entries(PLAN).map(([name, { what }]) => row(what, number(plan[name]))),
    [''],
    [row('Measured rate', 'Value', 'Page'), row('---', '--:', '---')],
    Object.values(MEASURED)
      .filter(([value]) => typeof value === 'number')
      .map(([value, what, page]) => row(what, value < 1 ? value : number(value), `[${page}](${page})`)),
    [''],
    [
      `${number(average)} requests/s on average, ${number(average * plan.peak)} at the peak. Storing takes ` +
        `${(average * rates.storingCores).toFixed(2)} cores on average, ${(average * plan.peak * rates.storingCores).toFixed(2)} at the peak.`,
      '',
      row('Resource, the fullest first', 'Needed', 'Available', 'Used', 'Full at, requests a month'),
      row('---', '--:', '--:', '--:', '--:'),
    ],
    resources.map(({ name, needed: need, available, share, fullAt }) =>
      row(name, number(need), number(available), percent(share), large(fullAt)),
    ),
    [
      '',
      `PostgreSQL connections: ${number(needed)} an instance, ${number(needed * plan.instances)} for ` +
        `${number(plan.instances)} ([${MEASURED.connections[2]}](${MEASURED.connections[2]})), whatever the traffic.`,
    ],
  ]
    .flat()
    .join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [requests, instances] = process.argv.slice(2).map(Number);
  console.log(capacityTables({ ...(requests && { requests }), ...(instances && { instances }) }));
}
