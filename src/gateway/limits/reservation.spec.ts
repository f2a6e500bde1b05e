import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget } from '../../../test/support/limits.js';
import type { BudgetMeasure } from '../../common/limits/rules.js';
import type { Price } from '../../providers/prices/price.js';

const ROOMY = 1e15;
const OUTPUT = 50;
const PRICE: Price = {
  input: 150_000_000,
  output: 600_000_000,
  cachedInput: null,
  cacheWrite: null,
  audioInput: 900_000_000,
  audioOutput: 1_200_000_000,
};
const SOUND = 'x'.repeat(2_000);
const SAID = 'Hello from a provider.';

/** A second of silence: 8,000 samples of 16 bits. */
function wave(): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt16LE(16, 34);
  return Buffer.concat([head, Buffer.alloc(16_000)]);
}

type ReservedBodyFields = Readonly<Record<string, unknown>>;

/** A family of requests, with a provider's usage report for the largest use that the request allows. */
interface EndpointFamily {
  readonly path: string;
  readonly body: ReservedBodyFields;
  readonly isForm?: true;
  readonly reported: (inputTokens: number) => object;
  readonly silent: object | string;
}
const openAiUsage = (prompt_tokens: number) => ({ usage: { prompt_tokens, completion_tokens: OUTPUT } });
const newUsage = (input_tokens: number) => ({ usage: { input_tokens, output_tokens: OUTPUT } });
const googleUsage = (promptTokenCount: number) => ({
  usageMetadata: { promptTokenCount, candidatesTokenCount: OUTPUT },
});
const choices = [{ index: 0, message: { role: 'assistant', content: SAID } }];
const messages = [{ role: 'user', content: 'Say hello to everybody.' }];
const google = (method: string) => `/v1beta/models/a-model:${method}`;
const contents = [{ role: 'user', parts: [{ text: 'Say hello to everybody.' }] }];
const generationConfig = { maxOutputTokens: OUTPUT };
const candidates = [{ content: { parts: [{ text: SAID }] } }];

const FAMILIES: readonly EndpointFamily[] = [
  {
    path: '/chat/completions',
    body: { model: 'a-model', max_tokens: OUTPUT, messages },
    reported: openAiUsage,
    silent: { choices },
  },
  {
    path: '/completions',
    body: { model: 'a-model', max_tokens: OUTPUT, prompt: 'Say hello.' },
    reported: openAiUsage,
    silent: { choices: [{ text: SAID }] },
  },
  {
    path: '/responses',
    body: { model: 'a-model', max_output_tokens: OUTPUT, input: 'Say hello.' },
    reported: newUsage,
    silent: { output: [{ type: 'message', content: [{ text: SAID }] }] },
  },
  {
    path: '/messages',
    body: { model: 'a-model', max_tokens: OUTPUT, messages },
    reported: newUsage,
    silent: { content: [{ type: 'text', text: SAID }] },
  },
  {
    path: google('generateContent'),
    body: { contents, generationConfig },
    reported: googleUsage,
    silent: { candidates },
  },
  {
    path: google('streamGenerateContent'),
    body: { contents, generationConfig },
    reported: (tokens) => [{ candidates }, googleUsage(tokens)],
    silent: [{ candidates }],
  },
  {
    path: google('embedContent'),
    body: { content: { parts: [{ text: 'tides' }] } },
    reported: (tokens) => ({ usageMetadata: { promptTokenCount: tokens } }),
    silent: { embedding: { values: [0.5] } },
  },
  {
    path: google('batchEmbedContents'),
    body: { requests: [{ content: { parts: [{ text: 'tides' }] } }] },
    reported: (tokens) => ({ usageMetadata: { promptTokenCount: tokens } }),
    silent: { embeddings: [{ values: [0.5] }] },
  },
  {
    path: '/embeddings',
    body: { model: 'a-model', input: ['tides', 'moons'] },
    reported: (prompt_tokens) => ({ usage: { prompt_tokens } }),
    silent: { data: [] },
  },
  {
    path: '/rerank',
    body: { model: 'a-model', query: 'tides', documents: ['moons'] },
    reported: (total_tokens) => ({ usage: { total_tokens } }),
    silent: { results: [] },
  },
  {
    path: '/moderations',
    body: { model: 'a-model', input: 'tides' },
    reported: (prompt_tokens) => ({ usage: { prompt_tokens } }),
    silent: { results: [] },
  },
  {
    path: '/images/generations',
    body: { model: 'a-model', prompt: 'tides', n: 2, size: '1024x1536' },
    reported: (input_tokens) => ({ usage: { input_tokens, output_tokens: 12_480 } }),
    silent: { data: [{ b64_json: '' }] },
  },
  {
    path: '/images/edits',
    body: { image: Buffer.from(SOUND), model: 'a-model', prompt: 'tides', n: '2' },
    isForm: true,
    reported: (input_tokens) => ({ usage: { input_tokens, output_tokens: 12_480 } }),
    silent: { data: [{ b64_json: '' }] },
  },
  {
    path: '/images/variations',
    body: { image: Buffer.from(SOUND), model: 'a-model', n: '2' },
    isForm: true,
    reported: () => ({ data: [{ b64_json: '' }] }),
    silent: { data: [{ b64_json: '' }] },
  },
  {
    path: '/audio/speech',
    body: { model: 'a-model', input: 'Say hello to everybody.', voice: 'alloy' },
    reported: (input_tokens) => ({ usage: { input_tokens, output_tokens: OUTPUT } }),
    silent: 'sound',
  },
  ...['/audio/transcriptions', '/audio/translations'].map((path): EndpointFamily => ({
    path,
    body: { file: wave(), model: 'a-model' },
    isForm: true,
    reported: () => ({ text: SAID, usage: { input_tokens: 32, output_tokens: 30 } }),
    silent: SAID,
  })),
];

/** How a body is sent. */
interface Shape {
  readonly name: string;
  readonly encoding?: string;
  readonly contentType?: string;
  readonly isChunked?: true;
  readonly more?: ReservedBodyFields;
}
const SHAPES: readonly Shape[] = [
  { name: 'plainly' },
  { name: 'in chunks', isChunked: true },
  { name: 'as text/plain', contentType: 'text/plain' },
  { name: 'as octets', contentType: 'application/octet-stream' },
  { name: 'as an urlencoded form', contentType: 'application/x-www-form-urlencoded' },
  { name: 'as application/json', contentType: 'application/json' },
  { name: 'with identity', encoding: 'identity' },
  { name: 'in gzip', encoding: 'gzip' },
  { name: 'in gzip and chunks', encoding: 'gzip', isChunked: true },
  { name: 'in an unknown encoding', encoding: 'aes128gcm' },
  { name: 'with stream', more: { stream: true } },
  { name: 'with stream as a number', more: { stream: 1 } },
  { name: 'with background', more: { background: true } },
  { name: 'with background and stream', more: { background: true, stream: true } },
  { name: 'with three answers', more: { n: 3 } },
  { name: 'with answers as text', more: { n: '3', max_tokens: '60', max_output_tokens: '60' } },
  { name: 'with two bounds', more: { max_completion_tokens: 1 } },
  { name: 'with nothing else', more: {} },
];

const bytesOf = (value: unknown): Buffer | string =>
  Buffer.isBuffer(value) ? value : typeof value === 'string' ? value : JSON.stringify(value);

function formBody(fields: ReservedBodyFields): Buffer {
  const parts = Object.entries(fields).map(([name, value]) => {
    const file = Buffer.isBuffer(value) ? '; filename="a.wav"' : '';
    const head = `--b\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), Buffer.from(bytesOf(value)), Buffer.from('\r\n')]);
  });
  return Buffer.concat([...parts, Buffer.from('--b--\r\n')]);
}

interface ReservedRequest {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

function sent(family: EndpointFamily, { encoding, contentType, more }: Shape): ReservedRequest {
  const fields = { ...family.body, ...more };
  const clear = family.isForm ? formBody(fields) : Buffer.from(JSON.stringify(fields));
  const type = family.isForm ? 'multipart/form-data; boundary=b' : 'application/json';
  const headers = { 'content-type': contentType ?? type, 'x-gateway-virtual-key': 'any' };
  const body = encoding === 'gzip' ? gzipSync(clear) : clear;
  return { body, headers: encoding === undefined ? headers : { ...headers, 'content-encoding': encoding } };
}

const answered = (said: object | string): ScriptedAnswer => ({
  headers: {
    'content-type':
      said === 'sound' ? 'audio/mpeg' : typeof said === 'string' ? 'text/plain' : 'application/json',
  },
  chunks: [typeof said === 'string' ? said : JSON.stringify(said)],
});

let gateway: TestGateway | undefined;
afterEach(() => gateway?.close());

/** The result of one request under a budget. */
interface ReservationOutcome {
  readonly status: number;
  readonly reached: number;
  /** The charge of the budget or, if the text is counted when the record is stored, the amount that stays reserved until then. */
  readonly charged: number;
}

async function under(
  amount: number,
  type: BudgetMeasure,
  { family, shape, answer }: ReservationCase,
): Promise<ReservationOutcome> {
  const limits = { limits: [aBudget(amount, { type })], policies: [] };
  gateway = await aGateway({
    caller: aCaller({ limits }),
    answers: [answered(answer)],
    price: PRICE,
    virtualKeys: { any: 'mistral-ai', openai: 'openai', claude: 'anthropic', gemini: 'google' },
  });
  const { body, headers } = sent(family, shape);
  const slug = family.path.startsWith('/v1beta')
    ? 'gemini'
    : family.path === '/messages'
      ? 'claude'
      : 'openai';
  const init: RequestInit = {
    method: 'POST',
    headers: { ...headers, 'x-gateway-virtual-key': family.path === '/moderations' ? 'any' : slug },
    body: shape.isChunked ? new Blob([new Uint8Array(body)]).stream() : new Uint8Array(body),
    ...(shape.isChunked && { duplex: 'half' }),
  };
  const path = `/v1${family.path}`;
  const response = await gateway.request(path, init);
  await response.arrayBuffer();
  const charged = gateway.logs[0]?.record.attempts.at(-1)?.charges?.[0]?.leased ?? 0;
  const outcome = { status: response.status, reached: gateway.calls.length, charged };
  await gateway.close();
  return outcome;
}

interface ReservationCase {
  readonly family: EndpointFamily;
  readonly shape: Shape;
  readonly answer: object | string;
}

const CASES = FAMILIES.flatMap((family) =>
  SHAPES.flatMap((shape) => {
    // No tokenizer makes more than one token of a byte.
    const most = family.isForm ? 500 : JSON.stringify({ ...family.body, ...shape.more }).length;
    return [
      { how: 'reports', answer: family.reported(most) },
      { how: 'does not report', answer: family.silent },
    ].map(({ how, answer }) => ({
      title: `POST ${family.path}, ${shape.name}, whose answer ${how} its usage`,
      family,
      shape,
      answer,
    }));
  }),
);

describe('whatever reaches a provider has reserved what it is charged', () => {
  it.each(CASES)('$title', async (given) => {
    for (const type of ['cost', 'tokens'] as const) {
      const { status, reached, charged } = await under(ROOMY, type, given);
      if (reached === 0) {
        expect([400, 402, 415]).toContain(status);
        continue;
      }
      expect(charged).toBeGreaterThan(0);
      const refused = await under(charged - 1, type, given);
      expect(refused).toEqual({ status: 402, reached: 0, charged: 0 });
    }
  });
});
