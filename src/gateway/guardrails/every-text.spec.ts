import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';
import {
  ANSWERS,
  deliveredTexts,
  type DocumentedAnswer,
  type DocumentedRequest,
  type DocumentedStream,
  eventsOf,
  framed,
  planted,
  REQUESTS,
  STREAMS,
} from '../../../test/support/documented-texts.js';
import { SeededRandom } from '../../../test/support/random.js';

/** The forbidden word, an address that is redacted, and a multi-byte character between them. */
const TEXT = 'the Apollo crew – write joe@example.com soon';
const WORD = 'Apollo';
const MAIL = 'joe@example.com';
const UNFOUND = 'never-found';
const DENYING = [
  { 'default.contains': { operator: 'none', words: [WORD, UNFOUND] }, deny: true, id: 'words' },
];
const REDACTING = [{ 'default.pii': { redact: true } }];

const seed = SeededRandom.seedFrom('GUARDRAIL_SEED');
const random = new SeededRandom(seed);
const NAMED = `(GUARDRAIL_SEED=${seed})`;

let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.close();
  gateway = null;
});

const HEADERS = { authorization: 'Bearer provider-key', 'x-gateway-aws-region': 'us-east-1' };

interface GuardedTestRequest {
  readonly path: string;
  readonly key: string;
  readonly body: RequestInit['body'];
  readonly config: object;
  readonly headers?: Record<string, string>;
  readonly answers?: readonly ScriptedAnswer[];
  readonly hooked?: (call: string) => void;
}

async function ask({
  path,
  key,
  body,
  config,
  headers,
  answers = [{ chunks: ['{}'] }],
  hooked,
}: GuardedTestRequest) {
  gateway = await aGateway({
    answers,
    http: {
      call: async (_tenant, { body: sent }) => {
        hooked?.(String(sent));
        return { status: 200, text: '{"verdict":true}' };
      },
    },
  });
  const response = await gateway.request(`/v1${path}`, {
    method: 'POST',
    body,
    headers: {
      ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...HEADERS,
      'x-gateway-provider': key,
      ...(key === 'ollama-native' && { 'x-gateway-custom-host': 'https://ollama.example' }),
      'x-gateway-config': JSON.stringify(config),
      ...headers,
    },
  });
  const bytes = Buffer.from(await response.arrayBuffer().catch(() => new ArrayBuffer(0)));
  await expect.poll(() => gateway?.logs.length, { interval: 1 }).toBe(1);
  const { record, bodies } = gateway.logs[0] as TestGateway['logs'][number];
  const kept = (side: 'request' | 'response'): Buffer => Buffer.concat(bodies[side]?.chunks ?? []);
  return { status: response.status, bytes, record, kept, calls: gateway.calls };
}

const CODINGS = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => gzipSync(bytes),
  br: (bytes: Buffer) => brotliCompressSync(bytes),
} as const;
function coded(bytes: Buffer): { readonly bytes: Buffer; readonly headers: Record<string, string> } {
  const coding = random.of(Object.keys(CODINGS) as (keyof typeof CODINGS)[]);
  return {
    bytes: CODINGS[coding](bytes),
    headers: coding === 'identity' ? {} : { 'content-encoding': coding },
  };
}

const requestCases = REQUESTS.flatMap(({ endpoint, path, keys, places }: DocumentedRequest) =>
  Object.entries(places).flatMap(([place, template]) =>
    keys.map((key, index) => ({ endpoint, place, key, path, template, isNative: index === 0 })),
  ),
);

describe(`every text of a request ${NAMED}`, () => {
  it.each(requestCases)('denies: $place of $endpoint to $key', async ({ path, key, template }) => {
    const { bytes, headers } = coded(Buffer.from(JSON.stringify(planted(template, TEXT))));
    const {
      status,
      calls,
      bytes: refusal,
    } = await ask({
      ...{ path, key, body: bytes, headers },
      config: { input_guardrails: DENYING },
    });

    expect([status, calls.length]).toEqual([446, 0]);
    expect(refusal.includes(UNFOUND)).toBe(false);
  });

  it.each(requestCases.filter(({ isNative }) => isNative))(
    'is redacted, in the log too: $place of $endpoint',
    async ({ path, key, template }) => {
      const { bytes, headers } = coded(Buffer.from(JSON.stringify(planted(template, TEXT))));
      const { kept, calls } = await ask({
        ...{ path, key, body: bytes, headers },
        config: { input_guardrails: REDACTING },
      });

      const sent = deliveredTexts(calls[0]?.body as Buffer);
      expect(sent).not.toContain('example.com');
      expect(sent).toContain('EMAIL_ADDRESS_1');
      expect(sent).toContain(WORD);
      expect(deliveredTexts(kept('request'))).not.toContain('example.com');
    },
  );
});

/** Bytes in chunks as a network delivers them: one by one, cut anywhere, or at once. */
function cutBytes(bytes: Buffer): Buffer[] {
  const way = random.of(['one', 'any', 'whole']);
  if (way === 'whole') return [bytes];
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = way === 'one' ? 1 : random.whole(1, 40);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

const LABELS = [
  'application/json',
  'text/plain',
  'application/octet-stream',
  'text/html; charset=utf-8',
  null,
];

function answerOf(bytes: Buffer, type: string | null, isCoded = true): ScriptedAnswer {
  const { bytes: body, headers } = isCoded ? coded(bytes) : { bytes, headers: {} };
  return {
    headers: { ...(type === null ? {} : { 'content-type': type }), ...headers },
    chunks: cutBytes(body),
  };
}

const isTranslated = (endpoint: string): boolean => / of (?!OpenAI images)/.test(endpoint);

const answerCases = ANSWERS.flatMap((answer: DocumentedAnswer) =>
  Object.entries(answer.places).map(([place, template]) => ({ ...answer, place, template })),
);

function plainAnswer({ endpoint, template }: (typeof answerCases)[number]): ScriptedAnswer {
  const json = JSON.stringify(planted(template, TEXT));
  if (isTranslated(endpoint)) return answerOf(Buffer.from(json), 'application/json', false);
  return answerOf(Buffer.from((random.is(0.3) ? '\ufeff' : '') + json), random.of(LABELS));
}

describe(`every text of a response ${NAMED}`, () => {
  it.each(answerCases)('denies: $place of $endpoint', async (answer) => {
    const { path, key, request } = answer;
    const stream = random.of([{}, { stream: false }, { stream: 1 }, { stream: 'true' }]);
    const { status, bytes, record } = await ask({
      ...{
        path,
        key,
        body: JSON.stringify(isTranslated(answer.endpoint) ? request : { ...request, ...stream }),
      },
      config: { output_guardrails: DENYING },
      answers: [plainAnswer(answer)],
    });

    expect([status, record.ending]).toEqual([446, 'refused']);
    expect(deliveredTexts(bytes)).not.toContain('the Apollo');
    expect(bytes.includes(UNFOUND)).toBe(false);
  });

  it.each(answerCases)('is redacted, in the log too: $place of $endpoint', async (answer) => {
    const { path, key, request } = answer;
    const { status, bytes, kept } = await ask({
      ...{ path, key, body: JSON.stringify(request) },
      config: { output_guardrails: REDACTING },
      answers: [plainAnswer(answer)],
    });

    expect(status).toBe(200);
    for (const delivered of [deliveredTexts(bytes), deliveredTexts(kept('response'))])
      expect(delivered).not.toContain('example.com');
    if (answer.place !== 'logprobs') expect(deliveredTexts(bytes)).toContain('EMAIL_ADDRESS_1');
  });
});

const streamCases = STREAMS.flatMap((stream: DocumentedStream) =>
  Object.entries(stream.places).map(([place, template]) => ({ ...stream, place, template })),
);

const TYPES = {
  sse: 'text/event-stream',
  array: 'application/json',
  lines: 'application/x-ndjson',
  aws: 'application/vnd.amazon.eventstream',
} as const;

/** A refusal names the word that was found, and nothing else of the text. */
function expectNoWord(status: number, bytes: Buffer): void {
  expect(deliveredTexts(bytes)).not.toContain(status === 446 ? `the ${WORD}` : WORD);
  expect(bytes.includes(UNFOUND)).toBe(false);
}

/** A text in pieces as a model produces it; a cut may fall within an escape. */
function cutText(text: string): string[] {
  const most = random.of([1, 3, 9, text.length]);
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const size = random.whole(1, most);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

function streamedAnswer(stream: (typeof streamCases)[number], label: string | null = TYPES[stream.framing]) {
  const bytes = framed(stream.framing, eventsOf(stream, stream.template, TEXT, cutText));
  return answerOf(bytes, label, !isTranslated(stream.endpoint));
}

function streamRequest({ request }: DocumentedStream, more: object = {}): Pick<GuardedTestRequest, 'body'> {
  if (request !== '$FORM') return { body: JSON.stringify({ ...request, ...more }) };
  const form = new FormData();
  form.set('model', 'gpt-4o-mini');
  form.set('stream', 'true');
  form.set('file', new Blob([Buffer.from([0xff, 0xfb, 0])]), 'a.mp3');
  return { body: form };
}

describe(`every text of a stream ${NAMED}`, () => {
  it.each(streamCases)('denies: $place of $endpoint', async (stream) => {
    const { path, key } = stream;
    const { bytes, status, record } = await ask({
      ...{ path, key, ...streamRequest(stream), config: { output_guardrails: DENYING } },
      answers: [streamedAnswer(stream)],
    });

    expect([record.ending, record.error_code]).toEqual(['refused', 'guardrail_denied']);
    expect(status === 446 || /hooks_failed|guardrail_denied|event: error/.test(bytes.toString())).toBe(true);
    expect(deliveredTexts(bytes)).not.toContain(WORD);
  });

  it.each(streamCases.filter(({ endpoint, request }) => !isTranslated(endpoint) && request !== '$FORM'))(
    'denies whatever the request and the content type say: $place of $endpoint',
    async (stream) => {
      const { path, key } = stream;
      const wanted = random.of([{ stream: 1 }, { stream: 'true' }, { stream: false }, { stream: undefined }]);
      const { bytes, status, record } = await ask({
        ...{ path, key, config: { output_guardrails: DENYING } },
        ...streamRequest(stream, path.startsWith('/v1beta') ? {} : wanted),
        answers: [streamedAnswer(stream, random.of([...LABELS, 'text/event-stream']))],
      });

      expect(record.ending).not.toBe('completed');
      expectNoWord(status, bytes);
    },
  );

  it.each(streamCases)('is redacted, in the log too: $place of $endpoint', async (stream) => {
    const { path, key } = stream;
    const { bytes, kept, record } = await ask({
      ...{ path, key, ...streamRequest(stream), config: { output_guardrails: REDACTING } },
      answers: [streamedAnswer(stream)],
    });

    expect(record.ending).toBe('completed');
    for (const delivered of [deliveredTexts(bytes), deliveredTexts(kept('response'))])
      expect(delivered).not.toContain('example.com');
    expect(deliveredTexts(bytes)).toMatch(/EMAIL_ADDRESS_1/);
    expect(deliveredTexts(bytes)).toContain(WORD);
  });

  it.each(streamCases)('reaches a webhook: $place of $endpoint', async (stream) => {
    const { path, key } = stream;
    const calls: string[] = [];
    await ask({
      ...{ path, key, ...streamRequest(stream) },
      config: { output_guardrails: [{ 'default.webhook': { webhookURL: 'https://hook.example' } }] },
      answers: [streamedAnswer(stream)],
      hooked: (call) => calls.push(call),
    });

    const { response } = JSON.parse(calls[0] ?? '{}') as { response: { text: string } };
    expect(response.text).toContain(WORD);
    expect(response.text).toContain(MAIL);
  });
});
