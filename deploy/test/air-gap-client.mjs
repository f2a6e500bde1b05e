/** Runs in the container of `air-gap`: waits for the service, and uses it as an operator and a client do. Throws what is not as promised. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const BASE = 'http://127.0.0.1:8787';
const READY_WITHIN_MS = 120_000;
const LOGGED_WITHIN_MS = 30_000;
/** An address for documentation (RFC 5737): no host has it. */
const OUTSIDE = { host: '192.0.2.1', port: 443 };

const codeOf = (act) => {
  try {
    return act();
  } catch ({ code }) {
    return code;
  }
};
const isReady = () =>
  fetch(`${BASE}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

async function until(holds, withinMs, message) {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await holds();
    if (value) return value;
    assert.ok(Date.now() < deadline, message);
    await sleep(500);
  }
}

async function json(path, options) {
  const response = await fetch(`${BASE}${path}`, options);
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

// The conditions of this test.
const status = readFileSync('/proc/self/status', 'utf8');
assert.equal(process.getuid(), 10001);
assert.match(status, /^CapEff:\s*0+$/m);
assert.match(status, /^NoNewPrivs:\s*1$/m);
assert.deepEqual(Object.keys(networkInterfaces()), ['lo']);
assert.equal(codeOf(() => writeFileSync('/app/x', '')), 'EROFS');
const refusal = await new Promise((resolve) => connect(OUTSIDE).on('error', resolve).on('connect', resolve));
assert.equal(refusal?.code, 'ENETUNREACH');

const began = Date.now();
await until(isReady, READY_WITHIN_MS, 'The service is not ready within two minutes.');
console.log(`Ready after ${((Date.now() - began) / 1000).toFixed(1)} s.`);

const keys = JSON.parse(readFileSync('/data/bootstrap.json', 'utf8'));
const request = (model) => ({
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'x-gateway-api-key': keys.workspace_api_key,
    'x-gateway-provider': 'sandbox',
  },
  body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
});
assert.equal((await json('/v1/chat/completions', request('sandbox-1'))).object, 'chat.completion');
const page = await (await fetch(`${BASE}/ui/`)).text();
assert.match(page, /<title>Gatehouse<\/title>/);
// What the page loads comes from the service.
assert.doesNotMatch(page, /(?:src|href)="(?:https?:)?\/\//);
const logged = await until(
  async () => (await json('/v1/logs', { headers: { 'x-gateway-api-key': keys.workspace_api_key } })).data?.length,
  LOGGED_WITHIN_MS,
  'The request is not in the log within half a minute.',
);
console.log(`Served and logged ${logged} request without a network.`);
