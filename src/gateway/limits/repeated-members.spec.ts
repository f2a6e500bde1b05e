import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget, aLimit } from '../../../test/support/limits.js';
import { errorCodeIn } from '../../../test/support/refusals.js';
import type { Limit, Policy } from '../../common/limits/limit.js';
import type { Price } from '../../providers/prices/price.js';
import type { AllowedModels } from '../types/target.js';

const PRICE: Price = {
  ...{ input: 1_000_000, output: 1_000_000 },
  ...{ cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null },
};
const WIDE = 1_000_000_000;

interface RepeatedMemberSample {
  readonly path: string;
  readonly provider?: string;
  readonly body: string;
  /** The member that the error names. */
  readonly name: string;
}

const MESSAGES = '"messages":[{"role":"user","content":"Hi"}]';
const SAMPLES: readonly RepeatedMemberSample[] = [
  {
    path: '/chat/completions',
    body: `{"model":"m","max_tokens":100000,${MESSAGES},"max_tokens":1}`,
    name: 'max_tokens',
  },
  { path: '/chat/completions', body: `{"model":"other","model":"m",${MESSAGES}}`, name: 'model' },
  { path: '/chat/completions', body: `{"m\\u006fdel":"other","model":"m",${MESSAGES}}`, name: 'model' },
  { path: '/messages', provider: 'anthropic', body: `{"model":"m",${MESSAGES},"n":1,"n":2}`, name: 'n' },
  { path: '/responses', body: '{"model":"m","input":"Hi","user":"a","user":"b"}', name: 'user' },
  {
    path: '/v1beta/models/m:generateContent',
    provider: 'google',
    body: '{"contents":[],"generationConfig":{"maxOutputTokens":9,"maxOutputTokens":1}}',
    name: 'maxOutputTokens',
  },
  {
    path: '/v1beta/models/m:streamGenerateContent',
    provider: 'google',
    body: '{"contents":[],"generationConfig":{},"generationConfig":{"maxOutputTokens":1}}',
    name: 'generationConfig',
  },
  { path: '/images/generations', body: '{"model":"m","prompt":"a","n":10,"n":1}', name: 'n' },
  { path: '/embeddings', body: '{"model":"n","input":"Hi","model":"m"}', name: 'model' },
];

interface Wishes extends GatewayWishes {
  /** Models that the virtual key allows. */
  readonly keyModels?: AllowedModels;
}
const ofCaller = (limits: readonly Limit[], policies: readonly Policy[] = []): Wishes => ({
  caller: aCaller({ limits: { limits, policies } }),
});
const policyOn = (more: Partial<Policy>): Wishes =>
  ofCaller([], [{ limit: aLimit({ amount: 10 }), conditions: [], groups: [], ...more }]);
const keyModels = { names: new Set(['m']), areAllowed: true };
const allowed = { providers: null, models: keyModels.names, keepsBodies: true, needsLog: false };

/** Everything that reads a body to decide about its request. */
const READERS: Readonly<Record<string, Wishes>> = {
  'a dollar budget of the caller': ofCaller([aBudget(WIDE)]),
  'a token budget of the caller': ofCaller([aBudget(WIDE, { type: 'tokens' })]),
  'a token rate of the caller': ofCaller([aLimit({ measure: 'tokens', amount: WIDE })]),
  'a dollar budget of the virtual key': { limits: [aBudget(WIDE)] },
  'a policy in dollars': ofCaller([], [{ limit: aBudget(WIDE), conditions: [], groups: [] }]),
  'a policy about a model': policyOn({ conditions: [{ key: 'model', value: 'x' }] }),
  'a policy about a user': policyOn({ conditions: [{ key: 'metadata._user', value: 'x' }] }),
  'a policy that counts models separately': policyOn({ groups: ['model'] }),
  'a policy that counts users separately': policyOn({ groups: ['metadata._user'] }),
  "a list of the organization's models": { caller: aCaller({ policy: allowed }) },
  "a list of the virtual key's models": { keyModels },
};

const UNCONCERNED: Readonly<Record<string, Wishes>> = {
  'no limit': {},
  'a rate of requests': ofCaller([aLimit({ amount: 10 })]),
  'a policy about a provider': policyOn({ conditions: [{ key: 'provider', value: '*' }] }),
};

let gateway: TestGateway;
afterEach(() => gateway.close());

async function send(
  { keyModels: models, ...under }: Wishes,
  { path, provider: providerId = 'openai', body }: RepeatedMemberSample,
): Promise<Response> {
  const account = { providerId, customHost: null, fields: {}, ...(models && { models }) };
  gateway = await aGateway({
    ...{ virtualKeys: { 'openai-prod': account }, price: PRICE, answers: [{ chunks: ['{}'] }] },
    ...under,
  });
  return gateway.request(`/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': 'openai-prod' },
    body,
  });
}

describe.each(Object.entries(READERS))('under %s', (_, under) => {
  it.each(SAMPLES)('a body with $name twice at $path is refused, and nothing is sent', async (sample) => {
    const answer = await send(under, sample);

    expect(answer.status).toBe(400);
    const body = (await answer.json()) as { error: { message: string } };
    expect(errorCodeIn(body)).toBe('invalid_request');
    expect(body.error.message).toContain(`the member "${sample.name}" twice`);
    expect(gateway.calls).toEqual([]);
  });
});

describe.each(Object.entries(UNCONCERNED))('under %s', (_, under) => {
  it.each(SAMPLES)('a body with $name twice at $path passes byte for byte', async (sample) => {
    await send(under, sample);

    expect((gateway.calls[0]?.body as Buffer).toString()).toBe(sample.body);
  });
});

it('under a budget, a request that providers do not bill may repeat a member', async () => {
  const body = '{"model":"m","messages":[],"model":"m"}';
  const count = { path: '/messages/count_tokens', provider: 'anthropic', body, name: 'model' };

  expect((await send(ofCaller([aBudget(WIDE)]), count)).status).toBe(200);
});
