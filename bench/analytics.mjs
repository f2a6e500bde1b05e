/**
 * Measures every analytics operation and the log list against a running service, after bench/seed-logs.mjs.
 *
 *   node bench/analytics.mjs http://127.0.0.1:8787 <admin key> <workspace> [times = 20] [only: logs, or a part of the name of an operation]
 *
 * Each line has p50 / p95 in milliseconds, as measured by a client on the same machine, one request after the other. The list is read at
 * its first page, at one in the middle of the retained time and at one near its end: pages use a cursor, so any position can be read
 * directly.
 */
const [base, key, workspace, times = '20', only = ''] = process.argv.slice(2);
if (!base || !key || !workspace) {
  console.error('usage: node bench/analytics.mjs <base url> <admin key> <workspace> [times] [only]');
  process.exit(1);
}
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
].map((path) => `groups/${path}`);
const FILTERED = [
  'graphs/cost?ai_model=gpt-5&status_code=200',
  'graphs/latency?ai_model=gpt-5&status_code=200',
  'groups/ai-models?columns=requests,cost,p95_latency&order_by=p95_latency',
];
/** Filters that match many requests, few, and none; and one by end user. */
const LISTS = [
  'ai_model=gpt-5&status_code=429',
  'ai_model=rerank-4&status_code=404',
  'ai_model=there-is-none&status_code=200',
  'user=user-4990&ai_model=gpt-5',
];

/** Now, in whole minutes, so that repeated requests are equal. */
const NOW = Math.floor(Date.now() / 60_000) * 60_000;

async function measure(path, query) {
  const url = new URL(`/v1/${path}`, base);
  for (const [name, value] of Object.entries({ workspace_slug: workspace, ...query }))
    url.searchParams.set(name, value);
  const taken = [];
  let rows = 0;
  for (let time = 0; time < Number(times); time++) {
    const began = performance.now();
    const answer = await fetch(url, { headers: { 'x-gateway-api-key': key } });
    const text = await answer.text();
    taken.push(performance.now() - began);
    if (answer.status !== 200) return `status ${answer.status}`;
    rows = JSON.parse(text).data?.length ?? 0;
  }
  taken.sort((one, other) => one - other);
  const at = (share) => taken[Math.ceil(taken.length * share) - 1].toFixed(0);
  return path.startsWith('logs') ? `${at(0.5)} / ${at(0.95)} (${rows} rows)` : `${at(0.5)} / ${at(0.95)}`;
}

const within = (hours) => ({
  time_of_generation_min: new Date(NOW - hours * HOUR_MS).toISOString(),
  time_of_generation_max: new Date(NOW).toISOString(),
});

if (only !== 'logs') {
  console.log('| Operation | 30 days, p50 / p95 ms | 24 hours, p50 / p95 ms |\n|---|--:|--:|');
  for (const path of [...GRAPHS, 'summary/cache', ...GROUPS, ...FILTERED].filter((each) =>
    each.includes(only),
  ))
    console.log(
      `| ${path} | ${await measure(`analytics/${path}`, within(DAYS * 24))} | ${await measure(`analytics/${path}`, within(24))} |`,
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
  console.log('\n| List, 50 rows | first page | in the middle | near the end |\n|---|--:|--:|--:|');
  for (const filters of LISTS)
    console.log(
      `| ${filters} | ${await measure(`logs?page_size=50&${filters}`, {})} | ${await measure(`logs?page_size=50&${filters}`, cursorAt(0.5))} | ${await measure(`logs?page_size=50&${filters}`, cursorAt(0.97))} |`,
    );
}
