import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type TestGateway } from '../../../test/support/gateway.js';

const TOKEN = ['eyJhbGciOiJSUzI1NiJ9', 'eyJvcmdhbmlzYXRpb25faWQiOiJvdXJzIn0', 'c2ln'].join('.');
const neighbour = aCaller({
  kind: 'workspace_token',
  apiKeyId: null,
  workspaceId: '00000000-0000-7000-8000-0000000000aa',
});
const tokens = {
  find: (token: string) => (token === TOKEN ? { principal: neighbour, expiresAt: null } : null),
  isOurs: (token: string) => token === TOKEN,
};
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const RETRYING = {
  'x-gateway-virtual-key': '',
  'x-gateway-provider': 'openai',
  authorization: 'Bearer sk-own',
  'x-gateway-retry-count': '1',
};
/** Requests that are waiting for their retry. */
const WAITING = 8;

let gateway: TestGateway;
afterEach(() => gateway.close());

describe('the retries of two workspaces that use one provider', () => {
  it('are counted separately: one that waits for many leaves all of its own to the other', async () => {
    const busy = { status: 429, chunks: ['{"error":{}}'] };
    gateway = await aGateway({
      tokens,
      answers: [
        ...Array.from({ length: WAITING }, () => ({ ...busy, headers: { 'retry-after-ms': '700' } })),
        { ...busy, headers: { 'retry-after-ms': '1' } },
        { chunks: ['{}'] },
      ],
    });
    const { chat, calls } = gateway;
    const waiting = Array.from({ length: WAITING }, () => chat(CHAT, RETRYING));
    await expect.poll(() => calls.length).toBe(WAITING);

    const answer = await chat(CHAT, { ...RETRYING, 'x-gateway-api-key': TOKEN });

    expect(answer.status).toBe(200);
    expect(calls).toHaveLength(WAITING + 2);
    await Promise.all(waiting);
  });
});
