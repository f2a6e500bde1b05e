import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget } from '../../../test/support/limits.js';
import { aSilence } from '../../../test/support/sounds.js';
import type { RequestLogRecord } from '../../request-log/record.js';
import type { Price, UnitPrices } from '../../providers/prices/price.js';

const TOKENS: Price = {
  input: 1_000_000_000,
  output: 2_000_000_000,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};
const byUnit = (units: UnitPrices): Price => ({ ...TOKENS, input: 0, output: 0, units, isByUnitOnly: true });
const HOUR = byUnit({ audioInputHour: 360_000_000 });

let gateway: TestGateway;
afterEach(() => gateway.close());

function upload(): FormData {
  const form = new FormData();
  form.append('model', 'whisper-1');
  form.append('file', aSilence(2));
  return form;
}

interface CutOffRequest {
  readonly path: string;
  readonly body: FormData | object;
  readonly slug?: string;
}

/** Sends a request, disconnects once all of it has reached the provider, which has not responded, and returns the record. */
async function leave(
  { path, body, slug = 'openai-prod' }: CutOffRequest,
  wishes: GatewayWishes,
): Promise<RequestLogRecord> {
  gateway = await aGateway({ answers: [{ isEndless: true, status: 0 }], ...wishes });
  const isForm = body instanceof FormData;
  const client = new AbortController();
  const asked = gateway.request(path, {
    method: 'POST',
    headers: { ...(!isForm && { 'content-type': 'application/json' }), 'x-gateway-virtual-key': slug },
    body: isForm ? body : JSON.stringify(body),
    signal: client.signal,
  });
  asked.catch(() => undefined);
  await vi.waitFor(() => expect(gateway.calls).toHaveLength(1));
  await sleep(20);
  client.abort();
  return gateway.logged();
}

const under = (type: 'cost' | 'tokens') =>
  aCaller({ limits: { limits: [aBudget(1e12, { type })], policies: [] } });

describe('a request whose client leaves before a response begins', () => {
  it.each(['/v1/audio/transcriptions', '/v1/audio/translations'])(
    'charges a dollar budget the length of the file at %s',
    async (path) => {
      const record = await leave({ path, body: upload() }, { caller: under('cost'), price: HOUR });

      expect(record).toMatchObject({
        ending: 'client_aborted',
        usage: { audio_input_ms: 2_000 },
        usage_source: 'estimated',
        cost_nano_usd: 200_000,
        attempts: [{ isEstimated: true, cost_nano_usd: 200_000, charges: [{ leased: 200_000 }] }],
      });
    },
  );

  it('charges a token budget what the transcription reserved', async () => {
    const asked = { path: '/v1/audio/transcriptions', body: upload() };
    const record = await leave(asked, { caller: under('tokens'), price: TOKENS });

    const { input_tokens = 0, output_tokens = 0 } = record.usage ?? {};
    expect(output_tokens).toBe(2 * 30 + 256);
    expect(record.attempts[0]?.charges).toMatchObject([{ leased: input_tokens + output_tokens }]);
  });

  it('charges an upload whose fields are known without a limit what a limit would have reserved', async () => {
    const asked = { path: '/v1/audio/transcriptions', body: upload(), slug: 'ears' };
    const record = await leave(asked, { virtualKeys: { ears: 'deepgram' }, price: HOUR });

    expect(record).toMatchObject({ usage: { audio_input_ms: 2_000 }, cost_nano_usd: 200_000 });
  });

  it('leaves an upload that streams through unknown', async () => {
    const record = await leave({ path: '/v1/audio/transcriptions', body: upload() }, { price: HOUR });

    expect(record).toMatchObject({ usage: null, cost_nano_usd: null, attempts: [{ isEstimated: true }] });
  });

  it.each([
    [
      'images by their number',
      { path: '/v1/images/generations', body: { model: 'dall-e-2', prompt: 'tides', n: 2, size: '512x512' } },
      byUnit({ images: [{ size: '512x512', quality: null, amount: 18_000_000 }] }),
      36_000_000,
    ],
    [
      'speech by its characters',
      { path: '/v1/audio/speech', body: { model: 'tts-1', input: 'Hello', voice: 'alloy' } },
      byUnit({ millionInputCharacters: 15_000_000_000 }),
      75_000,
    ],
  ] as const)('charges %s, also without a limit', async (_, asked, price, cost) => {
    expect(await leave(asked, { price })).toMatchObject({
      usage_source: 'estimated',
      cost_nano_usd: cost,
    });
  });

  it.each([
    ['a response', '/v1/responses'],
    ['a compaction', '/v1/responses/compact'],
  ])('charges %s its counted input, not its reservation', async (_, path) => {
    const record = await leave(
      { path, body: { model: 'gpt-5', input: 'Hi' } },
      { caller: under('cost'), price: TOKENS },
    );

    expect(record).toMatchObject({ attempts: [{ usage: null, countable: { input: 'Hi', output: '' } }] });
  });
});
