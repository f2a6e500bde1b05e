import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonOf } from '../support/http-client.js';
import { World } from '../support/world.js';

let world: World;
beforeAll(async () => {
  world = await World.create('count-tokens');
});
afterAll(() => world.close());

const BODY = {
  model: 'gemini-2.5-flash',
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'How many tokens are these words?' }],
  tools: [{ name: 'f', description: 'does', input_schema: { type: 'object', properties: {} } }],
};
const JSON_TYPE = [['content-type', 'application/json']] as const;

async function count(headers: Record<string, string>, body: object = BODY) {
  const answer = await world.send({ method: 'POST', path: '/v1/messages/count_tokens', headers, body });
  return { answer, told: jsonOf(answer) };
}

const stored = (provider: string, fields?: Record<string, string>): Promise<string> =>
  world.administration.createVirtualKey({
    name: `counting-${provider}`,
    provider,
    secret: world.providerSecret,
    customHost: `${world.upstream.url}/${provider}`,
    ...(fields ? { fields } : {}),
  });

const withKey = (slug: string): Record<string, string> => ({
  'x-gateway-api-key': world.apiKey.key,
  'x-gateway-virtual-key': slug,
});

describe('POST /v1/messages/count_tokens', () => {
  it('is passed on where the provider counts in the same format', async () => {
    const slug = await stored('anthropic');
    world.upstream.on('/anthropic/messages/count_tokens', {
      headers: JSON_TYPE,
      body: '{"input_tokens":14}',
    });
    const { answer, told } = await count(withKey(slug));
    expect([answer.status, told]).toEqual([200, { input_tokens: 14 }]);
    expect(answer.headers['x-gateway-token-count']).toBeUndefined();
  });

  it('is sent to Gemini in its own format', async () => {
    const slug = await stored('google');
    const path = '/google/v1beta/models/gemini-2.5-flash:countTokens';
    world.upstream.on(path, { headers: JSON_TYPE, body: '{"totalTokens":31,"promptTokensDetails":[]}' });
    const { answer, told } = await count(withKey(slug));
    expect([answer.status, told]).toEqual([200, { input_tokens: 31 }]);
    const asked = JSON.parse((await world.upstream.only(path)).body.toString()) as Record<string, unknown>;
    expect(asked).toMatchObject({
      generateContentRequest: {
        model: 'models/gemini-2.5-flash',
        contents: [{ role: 'user', parts: [{ text: 'How many tokens are these words?' }] }],
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
      },
    });
  });

  it("says a provider's refusal in Anthropic's words", async () => {
    const slug = await stored('google');
    world.upstream.on('/google/v1beta/models/nobody:countTokens', {
      status: 404,
      headers: JSON_TYPE,
      body: '{"error":{"code":404,"message":"models/nobody is not found","status":"NOT_FOUND"}}',
    });
    const { answer, told } = await count(withKey(slug), { ...BODY, model: 'nobody' });
    expect([answer.status, told]).toMatchObject([404, { type: 'error', error: { type: 'not_found_error' } }]);
  });

  it('is counted here for all others, marked as an estimate; no provider is called', async () => {
    world.upstream.ledger.length = 0;
    const { answer, told } = await count(world.headers, { ...BODY, model: 'gpt-4o' });
    expect(answer.status).toBe(200);
    const { input_tokens: tokens } = told as { input_tokens: number };
    expect(tokens).toBeGreaterThan(10);
    expect(tokens).toBeLessThan(60);
    expect(answer.headers['x-gateway-token-count']).toBe('estimated');
    expect(world.upstream.ledger).toEqual([]);
    const longer = { ...BODY, messages: [{ role: 'user', content: 'word '.repeat(1_000) }] };
    expect((await count(world.headers, longer)).told.input_tokens).toBeGreaterThan(1_000);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      endpoint: 'count-tokens',
      status: 200,
      usage_source: 'none',
      cost_nano_usd: null,
    });
  });

  it('is forwarded to a provider without chat', async () => {
    world.upstream.on('/v1/messages/count_tokens', { headers: JSON_TYPE, body: '{"input_tokens":5}' });
    const headers = {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-provider': 'voyage',
      'x-gateway-custom-host': `${world.upstream.url}/v1`,
      authorization: 'Bearer x',
    };
    const { answer, told } = await count(headers);
    expect([answer.status, told]).toEqual([200, { input_tokens: 5 }]);
    expect(answer.headers['x-gateway-endpoint']).toBe('unlisted');
  });

  it('leaves one row each', () => world.checkLog());
});
