import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';

const VIRTUAL_KEYS = {
  fireworks: 'fireworks-ai',
  anthropic: 'anthropic',
  voyage: 'voyage',
  jina: 'jina',
  cohere: 'cohere',
};
const JSON_TYPE = { 'content-type': 'application/json' };
const RANKING = { model: 'rerank-1', query: 'tides', documents: ['moon', 'bread'] };

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: VIRTUAL_KEYS, ...wishes }));
afterEach(() => gateway.close());

const post = (path: string, body: object, headers: Record<string, string>): Promise<Response> =>
  gateway.request(path, {
    method: 'POST',
    headers: { ...JSON_TYPE, ...headers },
    body: JSON.stringify(body),
  });
const sentBody = (): unknown => JSON.parse((gateway.calls[0]?.body as Buffer).toString());

describe('an endpoint that the row of a provider does not list', () => {
  it.each([
    ['fireworks', '/v1/rerank', '/inference/v1/rerank'],
    ['anthropic', '/v1/embeddings', '/v1/embeddings'],
  ])('is forwarded to %s unchanged, and the response reports it: %s', async (slug, path, upstream) => {
    const answer = '{"ranked" : [1.0]}';
    await given({ answers: [{ headers: JSON_TYPE, chunks: [answer] }] });
    const response = await post(path, RANKING, { 'x-gateway-virtual-key': slug });

    expect([response.status, await response.text()]).toEqual([200, answer]);
    expect(response.headers.get('x-gateway-endpoint')).toBe('unlisted');
    expect(gateway.calls[0]?.path).toBe(upstream);
    expect(sentBody()).toEqual(RANKING);
  });

  it('forwards a form, too', async () => {
    await given({ answers: [{ headers: JSON_TYPE, chunks: ['{"text":"hi"}'] }] });
    const form = new FormData();
    form.set('model', 'whisper-v3');
    form.set('file', new Blob(['sound'], { type: 'audio/wav' }), 'a.wav');
    const headers = { 'x-gateway-virtual-key': 'fireworks' };
    const response = await gateway.request('/v1/audio/transcriptions', {
      method: 'POST',
      headers,
      body: form,
    });

    expect([response.status, await response.json()]).toEqual([200, { text: 'hi' }]);
    expect(gateway.calls[0]?.path).toBe('/inference/v1/audio/transcriptions');
  });

  it('has no header if the provider lists the endpoint', async () => {
    await given({ answers: [{ headers: JSON_TYPE, chunks: ['{"results":[]}'] }] });
    const response = await post('/v1/rerank', RANKING, { 'x-gateway-virtual-key': 'cohere' });

    expect(response.headers.get('x-gateway-endpoint')).toBeNull();
  });

  it.each([404, 405])('moves a fallback on if the provider responds with %i', async (status) => {
    const answers = [
      { status, chunks: ['no'] },
      { headers: JSON_TYPE, chunks: ['{"results":[]}'] },
    ];
    await given({ answers });
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'fireworks' }, { virtual_key: 'cohere' }],
    };
    const response = await post('/v1/rerank', RANKING, {
      'x-gateway-virtual-key': '',
      'x-gateway-config': JSON.stringify(config),
    });

    expect([response.status, gateway.calls.length]).toEqual([200, 2]);
    expect(response.headers.get('x-gateway-endpoint')).toBeNull();
  });
});

describe("a request in the provider's own format", () => {
  const VOYAGE = '{"object":"list", "data":[{"index":0,"relevance_score":0.90}],"usage":{"total_tokens":7}}';
  const EMBEDDED = '{"object":"list", "data":[{"embedding":[0.10],"index":0}],"usage":{"total_tokens":7}}';

  it.each([
    ['voyage', '/v1/rerank', { ...RANKING, top_k: 1 }, VOYAGE],
    ['voyage', '/v1/rerank', { ...RANKING, top_k: null, truncation: true }, VOYAGE],
    ['voyage', '/v1/embeddings', { model: 'voyage-4', input: ['a'], output_dtype: 'int8' }, EMBEDDED],
    ['jina', '/v1/embeddings', { model: 'jina-v4', input: ['a'], task: 'retrieval.query' }, EMBEDDED],
  ])('passes to %s unchanged, as does its response: %s %j', async (slug, path, body, answer) => {
    await given({ answers: [{ headers: JSON_TYPE, chunks: [answer] }] });
    const response = await post(path, body, { 'x-gateway-virtual-key': slug });

    expect(await response.text()).toBe(answer);
    expect(sentBody()).toEqual(body);
    expect((await gateway.logged()).attempts[0]?.usage).toMatchObject({ input_tokens: 7 });
  });

  it.each([
    ['/v1/rerank', RANKING, VOYAGE, 'results'],
    ['/v1/rerank', { ...RANKING, top_n: 1 }, VOYAGE, 'results'],
    [
      '/v1/embeddings',
      { model: 'voyage-4', input: 'a', dimensions: 256, truncation: true },
      EMBEDDED,
      'prompt_tokens',
    ],
  ])("is translated for Voyage in the hub's format: %s %j", async (path, body, answer, field) => {
    await given({ answers: [{ headers: JSON_TYPE, chunks: [answer] }] });
    const response = await post(path, body, { 'x-gateway-virtual-key': 'voyage' });

    expect(await response.text()).toContain(field);
  });
});
