/**
 * Measures every analytics operation and the log list against a running service, after bench/seed-logs.mjs: for one workspace and for the
 * whole organization.
 *
 *   node bench/analytics.mjs http://127.0.0.1:8787 <admin key> <workspace> [times = 20] [only: logs, or a part of the name of an operation]
 *     [--bounded[=factor]]
 *
 * Each line has p50 / p95 in milliseconds, as measured by a client on the same machine, one request after the other. The list is read at
 * its first page, at one in the middle of the retained time and at one near its end: pages use a cursor, so any position can be read
 * directly. With --bounded, the exit code is 1 if a p95 exceeds its bound, times the factor for a machine that does other work.
 */
const given = process.argv.slice(2);
const [base, key, workspace, times = '20', only = ''] = given.filter((each) => !each.startsWith('--'));
const bounded = given.find((each) => /^--bounded(=|$)/.test(each));
if (!base || !key || !workspace) {
  console.error(
    'usage: node bench/analytics.mjs <base url> <admin key> <workspace> [times] [only] [--bounded[=factor]]',
  );
  process.exit(1);
}
const FACTOR = Number(bounded?.split('=')[1] ?? 1);
/** The highest p95 in milliseconds, by the beginning of an operation's name. Metadata keys that are not counted ahead have no bound. */
const BOUNDS = [
  ['analytics/overview', 300],
  ['analytics/groups/users?columns', 1_000],
  ['analytics/groups/metadata/_not_counted', Infinity],
  ['', 150],
];
const exceeded = [];
const HOUR_MS = 3_600_000;
const DAYS = 30;
const GRAPHS = [
  'requests',
  'cost',
  'latency',
  'tokens',
  'users',
  'users/requests',
  'errors',
  'errors/rate',
  'errors/stacks',
  'errors/status-codes',
  'requests/rescued',
  'cache/hit-rate',
  'cache/latency',
  'feedbacks',
  'feedbacks/scores',
  'feedbacks/weighted',
  'feedbacks/ai-models',
].map((path) => `graphs/${path}`);
const GROUPS = [
  'users',
  'ai-models',
  'model',
  'workspaces',
  'ai_service',
  'provider',
  'api_key',
  'config',
  'endpoint',
  'status_code',
  'cache_status',
  'prompt',
  'metadata/_environment',
  'metadata/_not_counted',
].map((path) => `groups/${path}`);
const FACETS = [
  'status_code',
  'model',
  'provider',
  'virtual_key',
  'api_key_id',
  'config',
  'endpoint',
  'cache_status',
].map((field) => `facets/${field}`);
const FILTERED = [
  'graphs/cost?ai_model=gpt-5&status_code=200',
  'graphs/latency?ai_model=gpt-5&status_code=200',
  'groups/ai-models?columns=requests,cost,p95_latency&order_by=p95_latency',
  'groups/users?columns=requests,cost,p95_latency',
  'groups/users?columns=requests,cost,p95_latency&order_by=p95_latency',
];
/** Filters that match many requests, few, and none; and one by end user. */
const LISTS = [
  'ai_model=gpt-5&status_code=429',
  'ai_model=rerank-4&status_code=404',
  'ai_model=there-is-none&status_code=200',
  'user=user-4990&ai_model=gpt-5',
  'user=user-4990',
  'user=there-is-none',
];
const SCOPES = { workspace: { workspace_slug: workspace }, organization: {} };

/** Now, in whole minutes, so that repeated requests are equal. */
const NOW = Math.floor(Date.now() / 60_000) * 60_000;

async function measure(path, query) {
  const url = new URL(`/v1/${path}`, base);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const taken = [];
  let rows = 0;
  for (let time = 0; time < Number(times); time++) {
    const began = performance.now();
    const answer = await fetch(url, { headers: { 'x-gateway-api-key': key } });
    const text = await answer.text();
    taken.push(performance.now() - began);
    if (answer.status !== 200) {
      exceeded.push(`${url.pathname}${url.search}: status ${answer.status}`);
      return `status ${answer.status}`;
    }
    rows = JSON.parse(text).data?.length ?? 0;
  }
  taken.sort((one, other) => one - other);
  const at = (share) => taken[Math.ceil(taken.length * share) - 1].toFixed(0);
  const [, bound] = BOUNDS.find(([beginning]) => path.startsWith(beginning));
  if (at(0.95) > bound * FACTOR)
    exceeded.push(`${url.pathname}${url.search}: ${at(0.95)} ms, bound ${bound}`);
  return path.startsWith('logs') ? `${at(0.5)} / ${at(0.95)} (${rows} rows)` : `${at(0.5)} / ${at(0.95)}`;
}

const within = (hours) => ({
  time_of_generation_min: new Date(NOW - hours * HOUR_MS).toISOString(),
  time_of_generation_max: new Date(NOW).toISOString(),
});

/** A line of a table: the cells are measured one after the other. */
async function line(name, cells) {
  const measured = [];
  for (const [path, query] of cells) measured.push(await measure(path, query));
  console.log(`| ${name} | ${measured.join(' | ')} |`);
}

if (only !== 'logs') {
  const columns = Object.keys(SCOPES).flatMap((scope) => [`${scope}, 24 hours`, `${scope}, 30 days`]);
  console.log(`| Operation, p50 / p95 ms | ${columns.join(' | ')} |\n|---|${'--:|'.repeat(columns.length)}`);
  const operations = ['overview', ...GRAPHS, 'summary/cache', ...GROUPS, ...FACETS, ...FILTERED];
  for (const path of operations.filter((each) => each.includes(only)))
    await line(
      path,
      Object.values(SCOPES).flatMap((scope) =>
        [24, DAYS * 24].map((hours) => [`analytics/${path}`, { ...scope, ...within(hours) }]),
      ),
    );
}
if (only === '' || only === 'logs') {
  /** A cursor is an arrival time and an id; this one is a position between two rows. */
  const cursorAt = (share) => {
    const at = new Date(NOW - share * DAYS * 24 * HOUR_MS).toISOString().replace('Z', '000Z');
    return {
      cursor: Buffer.from(JSON.stringify([at, 'ffffffff-ffff-ffff-ffff-ffffffffffff'])).toString('base64url'),
    };
  };
  const places = { 'first page': {}, 'in the middle': cursorAt(0.5), 'near the end': cursorAt(0.97) };
  for (const [name, scope] of Object.entries(SCOPES)) {
    console.log(`\n| List of the ${name}, 50 rows | ${Object.keys(places).join(' | ')} |\n|---|--:|--:|--:|`);
    for (const filters of LISTS)
      await line(
        filters,
        Object.values(places).map((place) => [`logs?page_size=50&${filters}`, { ...scope, ...place }]),
      );
  }
}
if (bounded && exceeded.length > 0) {
  console.error(`\nBeyond the bounds:\n${exceeded.join('\n')}`);
  process.exit(1);
}
