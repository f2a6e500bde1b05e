import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget, aLimit, slots } from '../../../test/support/limits.js';
import { aSilence } from '../../../test/support/sounds.js';
import type { Limit } from '../../common/limits/limit.js';
import {
  effectsOf,
  LIMIT_KINDS,
  type LimitEffect,
  type LimitKind,
} from '../../providers/charging/limit-effects.js';
import { chargeRows } from '../../providers/charging/table.js';
import type { Price } from '../../providers/prices/price.js';

const PRICE: Price = {
  ...{ input: 1_000_000_000, output: 1_000_000_000 },
  ...{ cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null },
  units: { thousandDocumentPages: 1_000_000_000, thousandAnnotatedPages: 1_000_000_000 },
};

interface Sample {
  readonly path: string;
  readonly provider?: string;
  readonly method?: string;
  readonly body?: object | (() => FormData);
}

const chat = { model: 'a-model', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
const file = (name: string, more: object) => (): FormData => {
  const form = new FormData();
  for (const [key, value] of Object.entries(more)) form.append(key, String(value));
  form.append(name, name === 'file' ? aSilence(1) : new File(['x'], 'a.png', { type: 'image/png' }));
  return form;
};

/** A request of each row of the charging table, by the row's first path. A row without one fails the test. */
const SAMPLES: Readonly<Record<string, Omit<Sample, 'path'> & { readonly path?: string }>> = {
  '/chat/completions': { body: chat },
  '/completions': { body: { model: 'a-model', max_tokens: 10, prompt: 'Hi' } },
  '/messages': { provider: 'anthropic', body: chat },
  '/responses': { body: { model: 'a-model', input: 'Hi', max_output_tokens: 10 } },
  '/responses/compact': { body: { model: 'a-model', input: 'Hi' } },
  '/interactions': {
    provider: 'google',
    body: { model: 'a-model', input: 'Hi', generation_config: { max_output_tokens: 10 } },
  },
  '/v1beta/models/{model}:generateContent': {
    provider: 'google',
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: { maxOutputTokens: 10 },
    },
  },
  '/embeddings': { body: { model: 'a-model', input: 'Hi' } },
  '/v1beta/models/{model}:embedContent': {
    provider: 'google',
    body: { content: { parts: [{ text: 'Hi' }] } },
  },
  '/rerank': { provider: 'together-ai', body: { model: 'a-model', query: 'Hi', documents: ['a'] } },
  '/moderations': { provider: 'mistral-ai', body: { model: 'a-model', input: 'Hi' } },
  '/ocr': {
    provider: 'mistral-ai',
    body: { model: 'a-model', document: { type: 'document_url', document_url: 'https://example.com/a.pdf' } },
  },
  '/images/generations': { body: { model: 'a-model', prompt: 'tides' } },
  '/audio/speech': { body: { model: 'a-model', input: 'Hi', voice: 'alloy' } },
  '/audio/transcriptions': { body: file('file', { model: 'a-model' }) },
  '/messages/count_tokens': { provider: 'anthropic', body: { model: 'a-model', messages: chat.messages } },
  '/files': { body: file('file', { purpose: 'batch' }) },
  '/batches/{id}/cancel': { body: {} },
  '/assistants': { body: { model: 'a-model' } },
  '/batches': {
    body: { input_file_id: 'file_1', endpoint: '/v1/chat/completions', completion_window: '24h' },
  },
  '/threads/runs': { body: { assistant_id: 'asst_1' } },
  '/vector_stores': { body: {} },
  '/realtime/client_secrets': { body: { session: { type: 'realtime', model: 'a-model' } } },
};

interface EffectRow extends Sample {
  readonly effects: Readonly<Record<LimitKind, LimitEffect>>;
}

const ROWS: readonly EffectRow[] = [
  ...chargeRows.map(({ operations, charge }) => {
    const path = operations[0]?.path ?? '';
    return { ...SAMPLES[path], path, effects: effectsOf(charge) };
  }),
  { path: '/a/path/of/tomorrow', body: {}, effects: effectsOf('unmeasured') },
  { path: '/chat/completions/{id}', method: 'PUT', body: {}, effects: effectsOf('unmeasured') },
  { path: '/responses/{id}', method: 'GET', effects: effectsOf('nothing') },
  { path: '/responses/{id}', method: 'DELETE', effects: effectsOf('nothing') },
];

/** Limits that are used up. */
const USED_UP: Readonly<Record<LimitKind, () => Limit>> = {
  requests: () => aLimit({ amount: 1, failsClosed: true }),
  concurrency: () => slots(1),
  'token rate': () => aLimit({ measure: 'tokens', amount: 1, failsClosed: true }),
  'token budget': () => aBudget(1, { type: 'tokens' }),
  'dollar budget': () => aBudget(1),
};

const CODES: Readonly<Record<LimitKind, string>> = {
  requests: 'rate_limited',
  concurrency: 'concurrency_limited',
  'token rate': 'rate_limited',
  'token budget': 'budget_exceeded',
  'dollar budget': 'budget_exceeded',
};

const ofCaller = (limit: Limit) => ({ caller: aCaller({ limits: { limits: [limit], policies: [] } }) });
const PLACES = {
  'API key': ofCaller,
  workspace: (limit: Limit) => ofCaller({ ...limit, subject: 'the workspace "a"' }),
  'virtual key': (limit: Limit) => ({ limits: [limit] }),
  policy: (limit: Limit) => ({
    caller: aCaller({
      limits: {
        limits: [],
        policies: [{ limit, conditions: [{ key: 'provider', value: '*' }], groups: [] }],
      },
    }),
  }),
} as const;

let gateway: TestGateway | null = null;
afterEach(() => gateway?.close());

/** The code of the refusal, or `passed`. */
async function outcomeOf(made: TestGateway, { path, method = 'POST', body }: Sample): Promise<string> {
  const content = typeof body === 'function' ? (body as () => FormData)() : body && JSON.stringify(body);
  const answer = await made.request(`/v1${path.replace(/\{(\w+)\}/g, 'x1')}`, {
    method,
    headers: {
      'x-gateway-virtual-key': 'openai-prod',
      ...(typeof content === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    ...(content ? { body: content } : {}),
  });
  const text = await answer.text();
  return answer.ok ? 'passed' : (/"code":"(\w+)"/.exec(text)?.[1] ?? `${answer.status} ${text}`);
}

function expectedOf(effect: LimitEffect, kind: LimitKind): string {
  if (effect === 'refused') return CODES[kind];
  return effect === 'unmeasured' ? 'usage_unknown' : 'passed';
}

describe('every row of the charging table', () => {
  it('has a sample request', () => {
    const paths = chargeRows.map(({ operations }) => operations[0]?.path);
    expect(paths.filter((path) => !path || !(path in SAMPLES))).toEqual([]);
  });
});

describe.each(ROWS.map((row) => [`${row.method ?? 'POST'} ${row.path}`, row] as const))('%s', (_, row) => {
  it.each(LIMIT_KINDS)('obeys a used-up limit of %s in every place', async (kind) => {
    for (const [place, under] of Object.entries(PLACES)) {
      const limit = USED_UP[kind]();
      const made = (gateway = await aGateway({
        virtualKeys: { 'openai-prod': row.provider ?? 'openai' },
        price: PRICE,
        answers: [{ chunks: ['{}'] }],
        ...under(limit),
      }));
      made.limits.windows.set(limit.id, [{ at: performance.now(), amount: 1 }]);
      made.limits.leased.set(limit.id, 1);
      const outcome = await outcomeOf(made, row);
      expect([place, outcome]).toEqual([place, expectedOf(row.effects[kind], kind)]);
      expect(made.calls).toHaveLength(outcome === 'passed' ? 1 : 0);
      await made.close();
    }
  });
});
