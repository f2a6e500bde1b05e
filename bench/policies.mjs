/** The cost of policies: one Gatehouse, called in turn without any, with limits, and with a config, a limit and guardrails. */
import { ask } from './gatehouse-admin.mjs';
import { ratio } from './summary.mjs';

const RATE = { type: 'requests', unit: 'rpm', value: 1_000_000_000 };
/** One of every kind, far above the load, so that each is leased and none is reached. */
const FIVE = {
  rate_limits: [
    RATE,
    { type: 'requests', unit: 'rph', value: 1_000_000_000 },
    { type: 'tokens', unit: 'rpm', value: 1_000_000_000_000 },
    { type: 'concurrency', value: 1_000_000 },
  ],
  usage_limits: [{ type: 'cost', credit_limit: 1_000_000 }],
};

const guardrail = (word, id) => ({ 'default.contains': { operator: 'none', words: [word] }, deny: true, id });

/** Rows of the table: the policies of each one's requests, and the least share of the first row's throughput. */
const POLICIES = [
  { name: 'no policy', what: 'a virtual key and nothing else', atLeast: null, limits: {} },
  { name: 'one limit', what: 'a rate of its virtual key', atLeast: 0.95, limits: { rate_limits: [RATE] } },
  {
    name: 'five limits',
    what: 'two rates of requests, one of tokens, concurrency, a budget',
    atLeast: 0.9,
    limits: FIVE,
  },
  {
    name: 'all policies',
    what: 'a saved config with three targets, one limit, a guardrail each way',
    atLeast: 0.75,
    limits: { rate_limits: [RATE] },
    configOf: (slug) => ({
      strategy: { mode: 'fallback' },
      targets: [1, 2, 3].map(() => ({ virtual_key: slug })),
      input_guardrails: [guardrail('unheard-of', 'input')],
      output_guardrails: [guardrail('never-said', 'output')],
    }),
  },
];

/**
 * The same service as a contender per policy: only the headers differ.
 *
 * @param {import('./contenders.mjs').Contender & { admin: object }} gatehouse
 */
export async function policyContenders(gatehouse) {
  const contenders = [];
  for (const policy of POLICIES) {
    const headers = await headersOf(gatehouse, policy);
    const { name, what } = policy;
    contenders.push({ ...gatehouse, name, what, headers, ledger: undefined, stop: async () => {} });
  }
  return contenders;
}

async function headersOf({ admin, headers }, { name, limits, configOf }) {
  const { base, keys, upstreamPort } = admin;
  const { workspace_id } = keys;
  const { data } = await ask(base, keys.admin_api_key, '/v1/virtual-keys', {
    ...{ name, provider: 'openai', key: 'sk-bench', workspace_id },
    custom_host: `http://127.0.0.1:${upstreamPort}/v1`,
    ...limits,
  });
  const key = { 'x-gateway-api-key': headers['x-gateway-api-key'] };
  if (!configOf) return { ...key, 'x-gateway-virtual-key': data.slug };
  const body = { name, workspace_id, config: configOf(data.slug) };
  const saved = await ask(base, keys.admin_api_key, '/v1/configs', body);
  return { ...key, 'x-gateway-config': saved.data.slug };
}

/** The targets of `--measure policies`, in the form of those of the other measures. */
export function judgePolicies(byName) {
  const plain = byName['no policy']?.requestsPerSecond;
  return POLICIES.filter(({ atLeast }) => atLeast !== null).map(({ name, atLeast }) => {
    const value = ratio(byName[name]?.requestsPerSecond, plain);
    const pass = value === null ? null : value >= atLeast;
    return {
      target: `throughput with ${name}, of that with none: at least ${atLeast} ×`,
      value,
      unit: '×',
      pass,
    };
  });
}
