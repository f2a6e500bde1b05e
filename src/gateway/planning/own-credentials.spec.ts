import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { mintApiKey } from '../../common/crypto/api-key-format.js';

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const OWN = 'sk-of-the-caller';
const DOWN = { status: 500, chunks: ['{"error":{}}'] };

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> => (gateway = await aGateway(wishes));
afterEach(() => gateway.close());

const ask = (config: object, headers: Record<string, string> = {}) =>
  gateway.chat(CHAT, {
    'x-gateway-virtual-key': '',
    'x-gateway-config': JSON.stringify(config),
    authorization: `Bearer ${OWN}`,
    ...headers,
  });
const sentTo = (provider: string): string =>
  gateway.calls
    .filter(({ target }) => target.provider.id === provider)
    .flatMap(({ headers }) => headers)
    .join(' ');
const fallback = (...targets: object[]) => ({ strategy: { mode: 'fallback' }, targets });

describe("the caller's own key", () => {
  it('goes to the one provider that a config names without a key', async () => {
    await given();

    expect((await ask({ provider: 'openai' })).status).toBe(200);
    await ask(fallback({ provider: 'openai' }, { provider: 'openai', override_params: { model: 'b' } }));
    await ask(fallback({ provider: 'openai' }, { provider: 'anthropic', api_key: 'sk-ant' }));

    expect(gateway.calls).toHaveLength(3);
    expect(sentTo('openai').split(OWN)).toHaveLength(4);
  });

  it('never goes to a second provider, which has a key of its own', async () => {
    await given({ answers: [DOWN, DOWN] });

    await ask(fallback({ provider: 'openai' }, { provider: 'groq', api_key: 'gsk-1' }));

    expect(sentTo('openai')).toContain(OWN);
    expect(sentTo('groq')).toContain('gsk-1');
    expect(sentTo('groq')).not.toContain(OWN);
  });

  it('goes nowhere when it is not clear whose it is', async () => {
    await given();

    const response = await ask(fallback({ provider: 'openai' }, { provider: 'groq' }));

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'credential_missing' } });
    expect(gateway.calls).toHaveLength(0);
  });

  it('goes to the provider that the request names, and to no other', async () => {
    await given({ answers: [DOWN, DOWN] });

    const response = await ask(fallback({ provider: 'openai' }, { provider: 'groq' }), {
      'x-gateway-provider': 'openai',
    });

    expect(sentTo('openai')).toContain(OWN);
    expect(sentTo('groq')).toBe('');
    expect(response.status).toBe(400);
  });

  it('stays here for a provider without credentials', async () => {
    await given({ answers: [DOWN, {}] });

    const response = await ask(fallback({ provider: 'openai' }, { provider: 'sandbox' }), {
      'x-gateway-provider': 'openai',
    });

    expect(response.status).toBe(200);
    expect(sentTo('openai')).toContain(OWN);
    expect(sentTo('sandbox')).not.toContain(OWN);
  });
});

describe('a gateway key', () => {
  it('is never the bearer of a target without a key', async () => {
    await given();

    const response = await ask({ provider: 'openai' }, { authorization: `Bearer ${gateway.key}` });

    expect(await response.json()).toMatchObject({ error: { code: 'gateway_key_in_authorization' } });
    expect(gateway.calls).toHaveLength(0);
  });

  it('never reaches a provider, whichever header it is in and whosever it is', async () => {
    await given();
    const other = mintApiKey('ws').reveal();

    for (const provider of ['anthropic', 'openai']) {
      await ask({ provider }, { 'x-note': `is ${other}` });
      await ask(
        { provider, api_key: 'sk-1', forward_headers: ['authorization', 'x-api-key', 'x-note'] },
        { authorization: `Bearer ${gateway.key}`, 'x-api-key': gateway.key, 'x-note': other },
      );
    }

    expect(gateway.calls).toHaveLength(4);
    for (const { headers } of gateway.calls)
      for (const key of [other, gateway.key]) expect(headers.join(' ')).not.toContain(key);
  });

  it("beside the caller's own one is ambiguous, and nothing is sent", async () => {
    await given();
    const other = mintApiKey('ws').reveal();

    for (const name of ['authorization', 'x-api-key', 'api-key']) {
      const value = name === 'authorization' ? `Bearer ${other}` : other;
      const response = await ask({ provider: 'anthropic', api_key: 'sk-1' }, { [name]: value });

      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { code: 'ambiguous_credentials' } },
      ]);
    }
    expect(gateway.calls).toHaveLength(0);
  });
});
