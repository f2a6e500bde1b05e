import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget, aLimit } from '../../../test/support/limits.js';
import type { Limit, Policy } from '../../common/limits/limit.js';

const ANSWER = JSON.stringify({
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const CHAT = {
  model: 'gpt-4o-mini',
  max_tokens: 8_000,
  messages: [{ role: 'user', content: 'x'.repeat(900) }],
};
const PACKERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes),
  'X-GZIP': (bytes) => gzipSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
};
const READABLE = Object.entries(PACKERS);
const OPAQUE: readonly (readonly [string, Buffer])[] = [
  ['gzip, gzip', gzipSync(gzipSync(JSON.stringify(CHAT)))],
  ['compress', Buffer.from(JSON.stringify(CHAT))],
  ['gzip', Buffer.from('no gzip at all')],
];

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ answers: [{ chunks: [ANSWER] }], ...wishes }));
afterEach(() => gateway.close());

const limitedBy = (...limits: readonly Limit[]): GatewayWishes => ({
  caller: aCaller({ limits: { limits, policies: [] } }),
});
function send(
  body: Buffer,
  encoding: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return gateway.request('/v1/chat/completions', {
    method: 'POST',
    body: new Uint8Array(body),
    headers: {
      'content-type': 'application/json',
      'content-encoding': encoding,
      'x-gateway-virtual-key': 'openai-prod',
      ...headers,
    },
  });
}
const packed = (encoding: string, body: object = CHAT): Buffer =>
  (PACKERS[encoding] as (bytes: Buffer) => Buffer)(Buffer.from(JSON.stringify(body)));
const codeOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { error?: { code: string } }).error?.code;
const encodingSent = (): string | undefined => {
  const headers = gateway.calls[0]?.headers ?? [];
  const at = headers.findIndex((text) => text.toLowerCase() === 'content-encoding');
  return at < 0 ? undefined : headers[at + 1];
};

describe('a JSON body with a content-encoding', () => {
  it.each(READABLE)('%s is read for a token budget as a plain one is', async (encoding) => {
    await given(limitedBy(aBudget(1_000, { type: 'tokens' })));

    const answer = await send(packed(encoding), encoding);

    expect([answer.status, await codeOf(answer)]).toEqual([402, 'budget_exceeded']);
    expect(gateway.calls).toEqual([]);
  });

  it.each(READABLE)('%s reserves a token for each decoded byte', async (encoding) => {
    const plain = JSON.stringify(CHAT).length + CHAT.max_tokens;
    await given(limitedBy(aBudget(plain - 1, { type: 'tokens' })));
    expect((await send(packed(encoding), encoding)).status).toBe(402);
    await gateway.close();

    await given(limitedBy(aBudget(plain, { type: 'tokens' })));
    expect((await send(packed(encoding), encoding)).status).toBe(200);
  });

  it.each(READABLE)(
    '%s does not hide a model without a known price from a dollar budget',
    async (encoding) => {
      await given(limitedBy(aBudget(1_000_000_000)));

      const answer = await send(packed(encoding, { ...CHAT, model: 'unknown-model' }), encoding);

      expect([answer.status, await codeOf(answer)]).toEqual([402, 'price_unknown']);
    },
  );

  it.each(READABLE)('%s does not hide a model from the policy of the organization', async (encoding) => {
    const policy = { providers: null, models: new Set(['gpt-4o-mini']), keepsBodies: true, needsLog: false };
    await given({ caller: aCaller({ policy }) });

    const answer = await send(packed(encoding, { ...CHAT, model: 'gpt-5' }), encoding);

    expect(await codeOf(answer)).toBe('model_not_allowed');
  });

  it.each(READABLE)('%s does not hide a model from the condition of a rate policy', async (encoding) => {
    const conditions: Policy['conditions'] = [{ key: 'model', value: 'gpt-4o-mini' }];
    const policy = { limit: aLimit({ amount: 0 }), conditions, groups: [] };
    await given({ caller: aCaller({ limits: { limits: [], policies: [policy] } }) });

    expect((await send(packed(encoding), encoding)).status).toBe(429);
  });

  it.each(READABLE)(
    '%s reaches the provider byte for byte, with its encoding and model on record',
    async (encoding) => {
      const { calls, logged } = await given({});

      expect((await send(packed(encoding), encoding)).status).toBe(200);

      expect(calls[0]?.body).toEqual(packed(encoding));
      expect(encodingSent()).toBe(encoding);
      expect(await logged()).toMatchObject({ model: 'gpt-4o-mini', request_bytes: packed(encoding).length });
    },
  );

  it('is sent decoded and without the encoding where its model names a virtual key', async () => {
    const { calls } = await given({});

    await send(packed('gzip', { ...CHAT, model: '@openai-prod/gpt-4o-mini' }), 'gzip', {
      'x-gateway-virtual-key': '',
    });

    expect(String(calls[0]?.body as Buffer)).toBe(JSON.stringify(CHAT));
    expect(encodingSent()).toBeUndefined();
  });

  it('is translated for a provider of another dialect', async () => {
    const { calls } = await given({ virtualKeys: { claude: 'anthropic' } });

    await send(packed('gzip'), 'gzip', { 'x-gateway-virtual-key': 'claude' });

    expect(JSON.parse(String(calls[0]?.body as Buffer))).toMatchObject({ max_tokens: CHAT.max_tokens });
    expect(encodingSent()).toBeUndefined();
  });

  it('is looked at by guardrails, and logged as they left it', async () => {
    const input_guardrails = [{ 'default.contains': { operator: 'none', words: ['forbidden'] }, deny: true }];
    await given({});
    const config = JSON.stringify({ virtual_key: 'openai-prod', input_guardrails });
    const asked = { ...CHAT, messages: [{ role: 'user', content: 'forbidden' }] };

    const answer = await send(packed('gzip', asked), 'gzip', {
      'x-gateway-config': config,
      'x-gateway-virtual-key': '',
    });

    expect(answer.status).toBe(446);
  });

  it('is refused where it decodes to more than a body may have', async () => {
    await given({ settings: { GATEHOUSE_BODY_LIMIT_BYTES: '100000' } });
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));

    const answer = await send(bomb, 'gzip');

    expect([answer.status, await codeOf(answer)]).toEqual([413, 'body_too_large']);
    expect(gateway.calls).toEqual([]);
  });

  it.each(OPAQUE)('%s passes byte for byte where nothing needs it read', async (encoding, bytes) => {
    const { calls } = await given({});

    expect((await send(bytes, encoding)).status).toBe(200);

    expect(calls[0]?.body).toEqual(bytes);
    expect(encodingSent()).toBe(encoding);
  });

  it.each(OPAQUE)('%s is refused under a limit in dollars or tokens', async (encoding, bytes) => {
    for (const limit of [
      aBudget(1_000_000_000),
      aBudget(1_000_000_000, { type: 'tokens' }),
      aLimit({ measure: 'tokens', amount: 1_000_000 }),
    ]) {
      await given(limitedBy(limit));
      const answer = await send(bytes, encoding);
      expect([answer.status, await codeOf(answer)]).toEqual([415, 'body_unreadable']);
      expect(gateway.calls).toEqual([]);
      await gateway.close();
    }
  });

  it.each(OPAQUE)('%s is refused under a policy that looks at the model', async (encoding, bytes) => {
    const conditions: Policy['conditions'] = [{ key: 'model', value: 'gpt-4o-mini' }];
    const rate = { limit: aLimit(), conditions, groups: [] };
    const models = { providers: null, models: new Set(['gpt-4o-mini']), keepsBodies: true, needsLog: false };
    for (const caller of [
      aCaller({ limits: { limits: [], policies: [rate] } }),
      aCaller({ policy: models }),
    ]) {
      await given({ caller });
      expect(await codeOf(await send(bytes, encoding))).toBe('body_unreadable');
      expect(gateway.calls).toEqual([]);
      await gateway.close();
    }
  });
});
