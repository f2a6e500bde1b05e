/**
 * Measures every analytics operation and the log list against a running service, after bench/seed-logs.mjs.
 *
 *   node bench/analytics.mjs http://127.0.0.1:8787 <admin key> [times = 20]
 */
const [base, key, times = '20'] = process.argv.slice(2);
if (!base || !key) {
  console.error('usage: node bench/analytics.mjs <base url> <admin key> [times]');
  process.exit(1);
}
const GRAPHS = ['requests', 'cost', 'latency', 'tokens', 'users', 'users/requests', 'errors', 'errors/rate', 'errors/stacks', 'errors/status-codes', 'requests/rescued', 'cache/hit-rate', 'cache/latency', 'feedbacks', 'feedbacks/scores', 'feedbacks/weighted', 'feedbacks/ai-models'].map((path) => `analytics/graphs/${path}`);
const GROUPS = ['users', 'ai-models', 'workspaces', 'api_key', 'status_code', 'ai_service', 'metadata/_environment'].map((path) => `analytics/groups/${path}`);
const EXTRA = ['analytics/summary/cache', 'analytics/graphs/cost?ai_model=gpt-5&status_code=200', 'analytics/groups/ai-models?columns=requests,cost,p95_latency&order_by=p95_latency', 'logs?ai_model=gpt-5&status_code=429&page_size=50'];

async function measure(path, hours) {
  const to = new Date();
  const url = new URL(`/v1/${path}`, base);
  url.searchParams.set('time_of_generation_min', new Date(to.getTime() - hours * 3_600_000).toISOString());
  url.searchParams.set('time_of_generation_max', to.toISOString());
  const taken = [];
  for (let time = 0; time < Number(times); time++) {
    const began = performance.now();
    const answer = await fetch(url, { headers: { 'x-gateway-api-key': key } });
    await answer.arrayBuffer();
    if (answer.status !== 200) return `status ${answer.status}`;
    taken.push(performance.now() - began);
  }
  taken.sort((one, other) => one - other);
  return `${taken[Math.floor(taken.length / 2)].toFixed(0)} / ${taken[Math.ceil(taken.length * 0.95) - 1].toFixed(0)}`;
}

console.log('| Operation | 30 days, p50 / p95 ms | 24 hours, p50 / p95 ms |\n|---|---|---|');
for (const path of [...GRAPHS, ...GROUPS, ...EXTRA]) console.log(`| ${path} | ${await measure(path, 30 * 24)} | ${await measure(path, 24)} |`);
