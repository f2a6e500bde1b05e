import { afterEach, describe, expect, it } from 'vitest';
import type { TestGateway } from '../../../test/support/gateway.js';
import { aLimitedGateway, expectedOutcome, outcomeOf } from '../../../test/support/limited-places.js';
import { aSilence } from '../../../test/support/sounds.js';
import {
  effectsOf,
  LIMIT_KINDS,
  LIMIT_PLACES,
  type LimitEffectRow,
} from '../../providers/charging/limit-effects.js';
import { chargeRows } from '../../providers/charging/table.js';
import type { Price } from '../../providers/prices/price.js';

const PRICE: Price = {
  ...{ input: 1_000_000_000, output: 1_000_000_000 },
  ...{ cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null },
  units: { thousandDocumentPages: 1_000_000_000, thousandAnnotatedPages: 1_000_000_000 },
};

interface LimitedSample {
  readonly path: string;
  readonly provider?: string;
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
const SAMPLES: Readonly<Record<string, Omit<LimitedSample, 'path'> & { readonly path?: string }>> = {
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

interface SampleRow extends LimitedSample, Pick<LimitEffectRow, 'effects'> {}

const ROWS: readonly SampleRow[] = chargeRows.map(({ operations, charge }) => {
  const path = operations[0]?.path ?? '';
  return { ...SAMPLES[path], path, effects: effectsOf(charge) };
});

let gateway: TestGateway | null = null;
afterEach(() => gateway?.close());

function send(made: TestGateway, { path, body }: LimitedSample): Promise<Response> {
  const content = typeof body === 'function' ? (body as () => FormData)() : body && JSON.stringify(body);
  return made.request(`/v1${path.replace(/\{(\w+)\}/g, 'x1')}`, {
    method: 'POST',
    headers: {
      'x-gateway-virtual-key': 'openai-prod',
      ...(typeof content === 'string' ? { 'content-type': 'application/json' } : {}),
    },
    ...(content ? { body: content } : {}),
  });
}

describe('every row of the charging table', () => {
  it('has a sample request', () => {
    const paths = chargeRows.map(({ operations }) => operations[0]?.path);
    expect(paths.filter((path) => !path || !(path in SAMPLES))).toEqual([]);
  });
});

describe.each(ROWS.map((row) => [`POST ${row.path}`, row] as const))('%s', (_, row) => {
  it.each(LIMIT_KINDS)('obeys a used-up limit of %s in every place', async (kind) => {
    for (const place of LIMIT_PLACES) {
      const made = (gateway = await aLimitedGateway(kind, place, {
        virtualKeys: { 'openai-prod': row.provider ?? 'openai' },
        price: PRICE,
        answers: [{ chunks: ['{}'] }],
      }));
      made.useUp();
      const outcome = await outcomeOf(await send(made, row));
      expect([place, outcome]).toEqual([place, expectedOutcome(row.effects[kind], kind)]);
      expect(made.calls).toHaveLength(outcome === 'passed' ? 1 : 0);
      await made.close();
    }
  });
});
