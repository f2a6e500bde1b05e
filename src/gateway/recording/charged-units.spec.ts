import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget } from '../../../test/support/limits.js';
import type { Price, UnitPrices } from '../../providers/prices/price.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const byUnit = (units: UnitPrices): Price => ({
  input: 0,
  output: 0,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
  units,
  isByUnitOnly: true,
});
const PAGES = byUnit({ thousandDocumentPages: 4_000_000_000, thousandAnnotatedPages: 5_000_000_000 });
const HOUR = byUnit({ audioInputHour: 180_000_000 });

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: { docs: 'mistral-ai', ears: 'groq' }, ...wishes }));
afterEach(() => gateway.close());

const answering = (answer: object): NonNullable<GatewayWishes['answers']> => [
  { headers: JSON_TYPE, chunks: [JSON.stringify(answer)] },
];
const READ = answering({
  pages: [
    { index: 0, markdown: '# Tides', images: [] },
    { index: 1, markdown: 'End', images: [] },
  ],
  model: 'mistral-ocr-2512',
  usage_info: { pages_processed: 2, doc_size_bytes: 4711 },
});
const ASKED = {
  model: 'mistral-ocr-latest',
  document: { type: 'document_url', document_url: 'https://example.com/tides.pdf' },
};

const read = (body: object): Promise<Response> =>
  gateway.request('/v1/ocr', {
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-gateway-virtual-key': 'docs' },
    body: JSON.stringify(body),
  });

function transcribe(slug: string): Promise<Response> {
  const form = new FormData();
  form.append('model', 'a-model');
  form.append('file', new File([Buffer.from('RIFF')], 'a.wav', { type: 'audio/wav' }));
  return gateway.request('/v1/audio/transcriptions', {
    method: 'POST',
    headers: { 'x-gateway-virtual-key': slug },
    body: form,
  });
}

describe('documents that are read', () => {
  it('cost what their pages cost, and pass byte for byte', async () => {
    const { calls, logged } = await given({ answers: READ, price: PAGES });
    const answer = await read(ASKED);

    expect(await answer.text()).toBe(READ[0]?.chunks?.[0]);
    expect(calls[0]).toMatchObject({ path: '/v1/ocr' });
    expect(await logged()).toMatchObject({
      endpoint: 'ocr',
      model: 'mistral-ocr-latest',
      response_model: 'mistral-ocr-2512',
      usage: { input_tokens: 0, output_tokens: 0, document_pages: 2 },
      usage_source: 'provider',
      cost_nano_usd: 8_000_000,
    });
  });

  it('cost more where annotations are requested', async () => {
    const { logged } = await given({ answers: READ, price: PAGES });
    await read({ ...ASKED, bbox_annotation_format: { type: 'json_schema' } });

    expect(await logged()).toMatchObject({ usage: { annotated_pages: 2 }, cost_nano_usd: 10_000_000 });
  });

  it.each([
    ['nobody knows a price', null],
    ['pages have none', byUnit({})],
  ])('have an unknown cost where %s', async (_, price) => {
    const { logged } = await given({ answers: READ, price });
    await read(ASKED);

    expect(await logged()).toMatchObject({ usage: { document_pages: 2 }, cost_nano_usd: null });
  });

  it('begin where the budget covers the pages that they may have, and are charged those that they had', async () => {
    const budget = aBudget(12_000_000);
    const caller = aCaller({ limits: { limits: [budget], policies: [] } });
    const { calls, logged } = await given({ answers: READ, price: PAGES, caller });
    const refused = await read(ASKED);
    await logged();

    expect([refused.status, calls.length]).toEqual([402, 0]);
    expect((await read({ ...ASKED, pages: '0-2' })).status).toBe(200);
    await expect
      .poll(() => gateway.logs.at(-1)?.record.attempts)
      .toMatchObject([
        { cost_nano_usd: 8_000_000, charges: [{ counter: budget.id, measure: 'cost', leased: 8_000_000 }] },
      ]);
  });
});

describe('searches', () => {
  it.each([
    ['/v1/rerank', '/v1/rerank'],
    ['/v1/v2/rerank', '/v2/rerank'],
  ])('at %s cost the units that Cohere reports', async (path, itsPath) => {
    const answer = '{ "results":[], "meta":{"billed_units":{"search_units":3.0}} }\n';
    const { request, calls, logged } = await given({
      virtualKeys: { search: 'cohere' },
      answers: [{ headers: JSON_TYPE, chunks: [answer] }],
      price: byUnit({ thousandSearchUnits: 2_000_000_000 }),
    });
    const body = '{ "model":"rerank-v3.5","query":"tides", "documents":["a"],"return_documents" :true }';
    const response = await request(path, {
      method: 'POST',
      headers: { ...JSON_TYPE, 'x-gateway-virtual-key': 'search' },
      body,
    });

    expect(await response.text()).toBe(answer);
    expect([calls[0]?.path, String(calls[0]?.body as Buffer)]).toEqual([itsPath, body]);
    expect(await logged()).toMatchObject({
      usage: { input_tokens: 0, output_tokens: 0, search_units: 3 },
      usage_source: 'provider',
      cost_nano_usd: 6_000_000,
    });
  });
});

describe('sound that is charged by its length', () => {
  const usage = { prompt_audio_seconds: 60, prompt_tokens: 4, completion_tokens: 635, total_tokens: 639 };

  it('costs that, and not the tokens that are reported beside it', async () => {
    const { logged } = await given({ answers: answering({ text: 'Hi', usage }), price: HOUR });
    await transcribe('docs');

    expect(await logged()).toMatchObject({
      usage: { input_tokens: 4, output_tokens: 635, audio_input_ms: 60_000 },
      cost_nano_usd: 3_000_000,
    });
  });

  it('costs the least that is charged where it is short', async () => {
    const { logged } = await given({
      answers: answering({ task: 'transcribe', duration: 0.8, text: 'Hi' }),
      price: { ...HOUR, leastAudioInputMs: 10_000 },
    });
    await transcribe('ears');

    expect(await logged()).toMatchObject({ usage: { audio_input_ms: 800 }, cost_nano_usd: 500_000 });
  });

  it('have an unknown cost where a response reports no length', async () => {
    const { logged } = await given({ answers: answering({ text: 'Hi' }), price: HOUR });
    await transcribe('ears');

    expect(await logged()).toMatchObject({ usage: null, cost_nano_usd: null });
  });
});
