/** The company in the screenshots: users, keys, limits and configs, created through the REST interface like by any client. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LONG_MODEL, QUESTION } from './upstream.mjs';

const MOST_TRIES = 60;
const PASSWORD = 'seven-lanterns-in-quiet-harbour';
const OWNER = { email: 'dana@acme.example', name: 'Dana Whitfield' };
const OWN = { 'sec-fetch-site': 'same-origin', 'x-gateway-csrf': '1', 'content-type': 'application/json' };
const PEOPLE = [
  ['Ravi', 'Menon', 'admin', []],
  ['Lucia', 'Ferro', 'member', ['manager']],
  ['Tom', 'Okafor', 'member', ['member']],
  ['Ines', 'Duarte', 'member', ['member']],
];

const KEYS = ['checkout-api', 'support-bot', 'search', 'batch-tagging', 'intern-sandbox'];
const VIRTUAL_KEYS = [
  ['OpenAI production', 'openai-prod', 'openai'],
  ['Anthropic', 'anthropic', 'anthropic'],
  ['Google', 'google', 'google'],
  ['Mistral', 'mistral', 'mistral-ai'],
];

const CONFIG = {
  strategy: {
    mode: 'conditional',
    conditions: [{ query: { 'metadata.plan': { $eq: 'enterprise' } }, then: 'premium' }],
    default: 'standard',
  },
  targets: [
    {
      name: 'premium',
      strategy: { mode: 'fallback', on_status_codes: [429, 503] },
      targets: [
        { virtual_key: 'openai-prod', retry: { attempts: 2, on_status_codes: [429] } },
        { virtual_key: 'anthropic', override_params: { model: 'claude-sonnet-4-5' } },
      ],
    },
    { name: 'standard', virtual_key: 'openai-prod', override_params: { model: 'gpt-5-mini' } },
  ],
};

const CALL_SCOPES = ['completions.write'];
/** Dollars per month. */
const KEY_BUDGETS = { 'checkout-api': 500, 'support-bot': 5, 'batch-tagging': 25, 'intern-sandbox': 2 };
const VIRTUAL_KEY_BUDGETS = { 'openai-prod': 12, anthropic: 250 };
/** Requests with a long context, each of which costs about a dollar, by the budget they use up. */
const LONG_REQUESTS = { 'support-bot': 4, 'batch-tagging': 3, 'intern-sandbox': 2 };

/** Creates everything and sends some real requests. */
export async function makeDemo({ base, bootstrap }, upstream) {
  const cookie = await setUp(base, bootstrap);
  const call = caller(base, cookie);
  await call('PUT', '/v1/admin/organisation', { name: 'Acme' });
  await call('PUT', `/v1/admin/workspaces/${bootstrap.workspace_slug}`, { name: 'Production' });
  await call('POST', '/v1/admin/workspaces', { name: 'Staging' });
  for (const person of PEOPLE) await invite(base, call, bootstrap.workspace_slug, person);
  const virtualKeys = await makeVirtualKeys(call, bootstrap, upstream.port);
  const keys = await makeKeys(call, bootstrap);
  const config = await makeConfig(call, bootstrap);
  const fallback = await sendRequests(base, { keys, config, upstream });
  return { cookie, keys, virtualKeys, fallback };
}

/** A caller with the owner's session. */
const caller = (base, cookie) => async (method, path, body) => {
  const headers = { ...OWN, cookie: `${cookie.name}=${cookie.value}` };
  const answer = await fetch(base + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 400)}`);
  return text ? JSON.parse(text) : {};
};

async function setUp(base, { setup_url }) {
  const token = new URL(setup_url).hash.slice(1);
  const send = (path, body) =>
    fetch(base + path, { method: 'POST', headers: OWN, body: JSON.stringify(body) });
  const made = await whenAvailable(() => send('/v1/auth/set-up', { token, ...OWNER, password: PASSWORD }));
  if (!made.ok) throw new Error(`Setting up failed: ${made.status} ${await made.text()}`);
  const answer = await send('/v1/auth/sign-in', { email: OWNER.email, password: PASSWORD });
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const at = pair.indexOf('=');
  if (at < 0) throw new Error(`Signing in failed: ${answer.status} ${await answer.text()}`);
  return { name: pair.slice(0, at), value: pair.slice(at + 1) };
}

/** The administration may start a little later than the gateway, which is ready without it. */
async function whenAvailable(send) {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const answer = await send();
    if (answer.status !== 503) return answer;
    await sleep(1_000);
  }
  return send();
}

async function invite(base, call, slug, [first, last, role, roles]) {
  const email = `${first.toLowerCase()}@acme.example`;
  const workspaces = roles.map((each) => ({ id: slug, role: each }));
  const { invite_link } = await call('POST', '/v1/admin/users/invites', { email, role, workspaces });
  const person = {
    token: new URL(invite_link).hash.slice(1),
    first_name: first,
    last_name: last,
    password: PASSWORD,
  };
  const answer = await fetch(`${base}/v1/admin/invites/accept`, {
    method: 'POST',
    headers: OWN,
    body: JSON.stringify(person),
  });
  if (!answer.ok) throw new Error(`The invite was not accepted: ${await answer.text()}`);
}

async function makeVirtualKeys(call, { workspace_id }, port) {
  const made = [];
  for (const [name, slug, provider] of VIRTUAL_KEYS) {
    const budget = VIRTUAL_KEY_BUDGETS[slug];
    const { id } = await call('POST', '/v1/virtual-keys', {
      ...{ name, slug, provider, workspace_id, key: 'sk-demo' },
      custom_host: `http://127.0.0.1:${port}${provider === 'google' ? '/v1beta' : '/v1'}`,
      ...(budget && { usage_limits: [{ credit_limit: budget, periodic_reset: 'monthly' }] }),
      ...(slug === 'mistral' && { rate_limits: [{ type: 'requests', unit: 'rpm', value: 600 }] }),
    });
    made.push({ id, slug, provider });
  }
  return made;
}

async function makeKeys(call, { workspace_id }) {
  const keys = [];
  for (const name of KEYS) {
    const budget = KEY_BUDGETS[name];
    const { id, key } = await call('POST', '/v1/api-keys/workspace/service', {
      ...{ name, workspace_id, scopes: CALL_SCOPES },
      ...(budget && { usage_limits: [{ credit_limit: budget, periodic_reset: 'monthly' }] }),
      ...(name === 'search' && { rate_limits: [{ type: 'requests', unit: 'rpm', value: 1_200 }] }),
    });
    keys.push({ id, key, name });
  }
  return keys;
}

async function makeConfig(call, { workspace_id }) {
  const slug = 'pc-support';
  await call('POST', '/v1/configs', {
    ...{ name: 'Support', slug, workspace_id },
    config: { ...CONFIG, strategy: { mode: 'single' }, targets: [{ virtual_key: 'openai-prod' }] },
  });
  await call('PUT', `/v1/configs/${slug}`, { config: CONFIG });
  return slug;
}

const METADATA = JSON.stringify({ plan: 'enterprise', _user: 'agent-17', team: 'support' });
const SYSTEM = 'You help the support team of Acme. Answer briefly, and draft replies in a friendly tone.';

/** Real requests, whose route, cost and bodies the drawer shows. The last one falls back. */
async function sendRequests(base, { keys, config, upstream }) {
  const send = async ({ key }, model, headers) => {
    const answer = await fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': key, ...headers },
      body: JSON.stringify({
        model,
        max_completion_tokens: 400,
        messages: [
          { role: 'system', content: SYSTEM },
          { role: 'user', content: QUESTION },
        ],
      }),
    });
    await answer.text();
    return answer.headers.get('x-gateway-request-id');
  };
  for (const key of keys)
    for (let n = 0; n < (LONG_REQUESTS[key.name] ?? 0); n++)
      await send(key, LONG_MODEL, { 'x-gateway-virtual-key': 'openai-prod' });
  const plan = { 'x-gateway-config': config, 'x-gateway-metadata': METADATA };
  for (const key of keys.slice(0, 3)) await send(key, 'gpt-5', plan);
  upstream.limit(3);
  return await send(keys[0], 'gpt-5', plan);
}
