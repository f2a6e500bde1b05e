import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mediaUsage } from '../../providers/endpoints/media.js';
import { chatCompletionsUsage } from '../../providers/endpoints/chat-completions.js';
import { generateContentUsage } from '../../providers/endpoints/generate-content.js';
import { messagesUsage } from '../../providers/endpoints/messages.js';
import { responsesUsage } from '../../providers/endpoints/responses.js';
import { ocrUsage } from '../../providers/endpoints/ocr.js';
import type { UsageReader } from '../../providers/endpoint.js';
import type { Usage } from '../../common/contracts/usage.js';
import { meterAnswer, meterStream } from './metering.js';

const LARGE = 'A'.repeat(9 * 1024 * 1024);
const USAGE = { input_tokens: 50, output_tokens: 4160, total_tokens: 4210 };
const READ = { input_tokens: 50, output_tokens: 4160 };

/** The meter's reading of a response that arrives in chunks of 64 KiB. */
async function metered(answer: Buffer, encoding: string | null = null, reader: UsageReader = mediaUsage) {
  const meter = meterAnswer(reader, encoding);
  if (!meter) throw new Error('not read');
  for (let at = 0; at < answer.length; at += 65_536) meter.feed(answer.subarray(at, at + 65_536));
  return new Promise<Usage | null>((resolve) => {
    meter.end(() => resolve(meter.reading.usage));
  });
}
const json = (answer: object): Buffer => Buffer.from(JSON.stringify(answer));

describe('a response that is too long to read whole', () => {
  it('reports its usage at its end', async () => {
    const pictures = json({ created: 1, data: [{ b64_json: LARGE }], usage: USAGE, size: '1024x1024' });

    expect(await metered(pictures)).toEqual(READ);
    expect(await metered(gzipSync(pictures), 'gzip')).toEqual(READ);
    expect(
      await metered(json({ pages: [{ image: LARGE }], usage_info: { pages_processed: 3 } }), null, ocrUsage),
    ).toEqual({ input_tokens: 0, output_tokens: 0, document_pages: 3 });
  });

  it('is ignored within a text', async () => {
    const lie = JSON.stringify({ usage: { input_tokens: 1, output_tokens: 1 } });

    expect(await metered(json({ data: [{ b64_json: LARGE }], usage: USAGE, note: lie }))).toEqual(READ);
    expect(await metered(json({ data: [{ b64_json: LARGE }], note: lie }))).toBeNull();
  });

  it('reports nothing where its end does not', async () => {
    expect(await metered(json({ usage: USAGE, data: [{ b64_json: LARGE }] }))).toBeNull();
    expect(await metered(Buffer.from(LARGE))).toBeNull();
  });
});

it('a short response is read wherever its usage is', async () => {
  expect(await metered(json({ usage: USAGE, data: [{ b64_json: 'AAAA' }] }))).toEqual(READ);
});

it('a usage of more tokens than any model takes is not read, so that the text is counted', async () => {
  expect(await metered(json({ usage: { ...USAGE, output_tokens: 100_000_001 } }))).toBeNull();
  expect(await metered(json({ usage: { ...USAGE, output_tokens: 100_000_000 } }))).toMatchObject({
    output_tokens: 100_000_000,
  });
});

describe('a stream that breaks off before the requested usage', () => {
  const chat = (delta: object, more = {}): object => ({
    model: 'm',
    choices: [{ index: 0, delta, ...more }],
  });
  const message = (delta: object): object => ({ type: 'content_block_delta', index: 0, delta });
  const response = (type: string, more: object): object => ({
    type: `response.${type}`,
    sequence_number: 1,
    ...more,
  });

  it.each([
    [
      'chat',
      chatCompletionsUsage,
      [
        chat({ role: 'assistant', content: '' }),
        chat({ content: 'Hel' }),
        chat({ content: 'lo\n' }, { finish_reason: null }),
        chat({ content: '"delta":{"content":"x"}' }),
        chat({ content: 'a', reasoning_content: 'b' }),
        chat({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }),
        { model: 'm', choices: ['c', 'd'].map((content, index) => ({ index, delta: { content } })) },
      ],
      'Hello\n"delta":{"content":"x"}abf{}cd',
    ],
    [
      'messages',
      messagesUsage,
      [
        { type: 'message_start', message: { model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
        message({ type: 'text_delta', text: 'Hel' }),
        message({ type: 'text_delta', text: 'lo\n' }),
        message({ type: 'input_json_delta', partial_json: '{}' }),
        message({ type: 'thinking_delta', thinking: 'hm' }),
      ],
      'Hello\n{}hm',
    ],
    [
      'responses',
      responsesUsage,
      [
        response('created', { response: { model: 'm', usage: null } }),
        response('output_text.delta', { delta: 'Hel', logprobs: [] }),
        response('output_text.delta', { delta: 'lo\n', logprobs: [] }),
        response('output_text.done', { text: 'Hello\n' }),
        response('function_call_arguments.delta', { delta: '{}' }),
        response('audio.delta', { delta: 'AAAA' }),
      ],
      'Hello\n{}',
    ],
    [
      'generate content',
      generateContentUsage,
      [
        { candidates: [{ content: { parts: [{ text: 'Hel' }] } }], usageMetadata: { promptTokenCount: 9 } },
        { candidates: [{ content: { parts: [{ text: 'lo' }] } }] },
      ],
      'Hello',
    ],
    ['media', mediaUsage, [{ type: 'image_generation.partial_image', b64_json: 'AAAA' }], ''],
  ])('has the text of %s gathered, to be counted', (_, reader, events, text) => {
    const meter = meterStream(reader, null, true);
    for (const event of events) meter?.feed(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));

    expect(meter?.reading.outputText).toBe(text);
  });
});

describe('an event that is too long to be read whole', () => {
  const LONG = 'A'.repeat(2 * 1024 * 1024);
  const usage = { ...USAGE, input_tokens_details: { text_tokens: 10, image_tokens: 40 } };
  const streamed = (reader: UsageReader, ...events: readonly object[]): Usage | null => {
    const meter = meterStream(reader, null, true);
    const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
    for (let at = 0; at < bytes.length; at += 65_536) meter?.feed(bytes.subarray(at, at + 65_536));
    return meter?.reading.usage ?? null;
  };

  it('reports its usage at its end, also within a response object', () => {
    const read = { ...READ, image_input_tokens: 40 };
    const picture = { type: 'image_generation.completed', b64_json: LONG, usage, size: '1024x1024' };
    const output = [{ type: 'image_generation_call', result: LONG }];
    const response = { model: 'm', output, usage, user: null, metadata: {} };

    expect(streamed(mediaUsage, picture)).toEqual(read);
    expect(streamed(responsesUsage, { type: 'response.completed', response })).toEqual(read);
  });

  it('reports nothing where its end does not, and the next one is read', () => {
    const partial = { type: 'image_generation.partial_image', b64_json: LONG };

    expect(streamed(mediaUsage, partial)).toBeNull();
    expect(streamed(mediaUsage, partial, { type: 'image_generation.completed', usage: USAGE })).toEqual(READ);
  });
});

describe('a failure that is reported within a stream', () => {
  const hasFailed = (
    reader: UsageReader,
    events: readonly object[],
    expectsUsage = true,
  ): boolean | undefined => {
    const meter = meterStream(reader, null, expectsUsage);
    for (const event of events) meter?.feed(Buffer.from(`data: ${JSON.stringify(event)}\n\n`));
    return meter?.reading.hasFailed;
  };
  const said = (content: string): object => ({ model: 'm', choices: [{ index: 0, delta: { content } }] });

  it.each([
    ['chat completions', chatCompletionsUsage, { error: { message: 'overloaded', code: 502 }, choices: [] }],
    [
      'messages',
      messagesUsage,
      { type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } },
    ],
    ['responses, the stream', responsesUsage, { type: 'error', code: 'server_error', message: 'overloaded' }],
    [
      'responses, the answer',
      responsesUsage,
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
    ],
  ])('is detected: %s', (_, reader, failure) => {
    expect(hasFailed(reader, [said('Hi'), said(' there'), failure])).toBe(true);
    expect(hasFailed(reader, [failure], false)).toBe(true);
  });

  it('is not detected in what a model writes about errors, nor where there is none', () => {
    const words = '{"error": {"message": "no"}, "type": "error"}';

    expect(hasFailed(chatCompletionsUsage, [said('Hi'), said(words), said('"error"')])).toBe(false);
    expect(hasFailed(chatCompletionsUsage, [said('Hi'), { ...said('.'), error: null }])).toBe(false);
    expect(
      hasFailed(responsesUsage, [{ type: 'response.completed', response: { model: 'm', error: null } }]),
    ).toBe(false);
  });
});
