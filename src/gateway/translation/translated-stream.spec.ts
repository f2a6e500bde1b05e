import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicChat as anthropic } from '../../providers/dialects/anthropic/chat.js';
import { gemini as google } from '../../providers/dialects/gemini/index.js';
import type { Json } from '../../providers/endpoint.js';
import type { Context, EventTranslator, Translator } from '../../providers/translation.js';
import { nothingRead } from '../recording/reading.js';
import { FRAME_BYTES_MAX } from '../framing/frame-decoder.js';
import type { Translation } from './outgoing.js';
import { TranslatedStream } from './translated-stream.js';

const gemini = google.translators?.['chat-completions'] as Translator;
const CONTEXT: Context = { id: 'id', created: 1, model: 'm', isStreamed: true, fields: {}, isStrict: true };
const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const delta = (content: string): Json => ({ model: 'm-1', choices: [{ index: 0, delta: { content } }] });
const sse = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;

/** A provider whose events are `{say}`, `{usage}`, `{oops}` and `{bye}`. */
const events = (): EventTranslator => ({
  event: ({ data }) => {
    const { say, usage, oops, bye } = JSON.parse(data) as Record<string, string | undefined>;
    if (oops) return { chunks: [], error: { message: oops, type: 'server_error', code: null, param: null } };
    if (bye) return { chunks: [], isDone: true };
    return { chunks: usage ? [{ choices: [], usage: USAGE }] : [delta(say ?? '')] };
  },
  end: () => ({ chunks: [] }),
});
const translator: Translator = {
  request: (body) => ({ path: '/', body }),
  answer: (answer) => answer,
  error: () => ({ message: '', type: '', code: null, param: null }),
  stream: { framing: 'json-lines', open: events },
};
const translation = (wishes: Partial<Translation> = {}): Translation => ({
  format: null,
  translator,
  hub: 'chat-completions',
  ...wishes,
});
const open = (asked: Json = {}, wishes: Partial<Translation> = {}) => {
  const reading = nothingRead();
  const stream = new TranslatedStream(
    { translation: translation(wishes), context: CONTEXT, clientBody: asked, hub: asked },
    reading,
  );
  return { stream, reading };
};
const lines = (...values: object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

describe('TranslatedStream', () => {
  it("gives a client of the hub's format its chunks, ends with [DONE], and reads usage and model", () => {
    const { stream, reading } = open();

    const text = stream.feed(
      Buffer.from(lines({ say: 'one' }, { say: 'two' }, { usage: '1' }, { bye: '1' })),
    );

    expect(text).toBe(sse(delta('one')) + sse(delta('two')) + sse('[DONE]'));
    expect([stream.hasEnded, stream.error]).toEqual([true, null]);
    expect(reading).toMatchObject({ usage: { input_tokens: 7, output_tokens: 3 }, responseModel: 'm-1' });
  });

  it('reports usage to a client that requested it', () => {
    const { stream } = open({ stream_options: { include_usage: true } });

    expect(stream.feed(Buffer.from(lines({ usage: '1' })))).toBe(sse({ choices: [], usage: USAGE }));
  });

  it('says the same however the bytes are cut', () => {
    const bytes = Buffer.from(lines({ say: 'größe' }, { say: '日本' }, { usage: '1' }, { bye: '1' }));
    const whole = open().stream.feed(bytes);

    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const { stream } = open();
        const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const said = edges.slice(1).map((edge, at) => stream.feed(bytes.subarray(edges[at], edge)));
        expect(said.join('')).toBe(whole);
      }),
    );
  });

  it.each([
    ['an error in the middle', lines({ say: 'a' }, { oops: 'out of luck' }, { say: 'never' }), 'out of luck'],
    [
      'an end that comes too early',
      lines({ say: 'a' }),
      'The provider ended the stream before the answer was complete.',
    ],
  ])('%s becomes an error event, and nothing comes after it', (_, bytes, message) => {
    const { stream } = open();
    const text = stream.feed(Buffer.from(bytes)) + stream.end();

    expect(text.startsWith(sse(delta('a')))).toBe(true);
    expect(JSON.parse(text.slice(sse(delta('a')).length + 'data: '.length))).toMatchObject({
      error: { message },
    });
    expect(stream.error?.message).toBe(message);
    expect(stream.feed(Buffer.from(lines({ say: 'b' }))) + stream.end()).toBe('');
  });

  it('reads a provider that speaks the hub itself, its errors in a 200 stream included', () => {
    const { stream, reading } = open({}, { translator: null });
    const error = { message: 'overloaded', type: 'server_error' };

    const text = stream.feed(
      Buffer.from(sse(delta('a')) + ': a comment\n\n' + sse('not json') + sse({ error })),
    );

    expect(text).toContain(sse(delta('a')));
    expect(stream.error).toMatchObject(error);
    expect(reading.outputText).toBe('a');
  });

  const choice = (index: number, finish_reason: string | null) =>
    sse({ choices: [{ index, delta: {}, finish_reason }] });

  it('without [DONE] is complete when each of its choices has reported why it ended', () => {
    const { stream } = open({}, { translator: null });
    stream.feed(Buffer.from(choice(0, null) + choice(1, null) + choice(0, 'stop') + choice(1, 'length')));

    expect(stream.end()).toBe(sse('[DONE]'));
    expect(stream.error).toBeNull();
  });

  it.each([
    ['nothing', ''],
    ['an answer that goes on', choice(0, null)],
    ['two answers of which one goes on', choice(0, 'stop') + choice(1, null)],
  ])('without [DONE] was cut when it was %s', (_, said) => {
    const { stream } = open({}, { translator: null });
    stream.feed(Buffer.from(said));

    expect(stream.end()).toContain('before the answer was complete');
  });

  it('reads an error that is a text alone', () => {
    const { stream } = open({}, { translator: null });

    expect(stream.feed(Buffer.from(sse({ error: 'Input is too long', error_type: 'validation' })))).toContain(
      'Input is too long',
    );
    expect(stream.hasEnded).toBe(true);
  });

  it('ends with an error when the bytes are no frames', () => {
    const { stream } = open(
      {},
      { translator: { ...translator, stream: { framing: 'aws-event-stream', open: events } } },
    );

    expect(stream.feed(Buffer.alloc(64, 0xff))).toContain('cannot be read');
    expect(stream.hasEnded).toBe(true);
  });

  it('ends with an error when its last event, which nothing ends, is too long', () => {
    const { stream } = open({}, { translator: null });
    const line = `data: ${'a'.repeat(0.6 * FRAME_BYTES_MAX)}`;
    stream.feed(Buffer.from(`${line}\n`));
    stream.feed(Buffer.from(line));

    expect(stream.end()).toContain('cannot be read');
    expect(stream.hasEnded).toBe(true);
  });

  const left = (translator: Translator, ...data: unknown[]) => {
    const { stream, reading } = open({}, { translator });
    for (const event of data) stream.feed(Buffer.from(sse(event)));
    return reading;
  };

  it("of Anthropic knows the provider's own count of the input when the client leaves, and keeps the output to be counted", () => {
    const usage = { input_tokens: 9, cache_read_input_tokens: 1_000, output_tokens: 1 };
    const reading = left(
      anthropic,
      { type: 'message_start', message: { id: 'm', model: 'claude', usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Once ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'upon' } },
    );

    expect(reading).toMatchObject({
      usage: { input_tokens: 1_009, cached_input_tokens: 1_000, output_tokens: 1 },
      isBeginning: true,
      outputText: 'Once upon',
    });
  });

  it('of Anthropic that comes to its end has the usage of the end', () => {
    const reading = left(
      anthropic,
      { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 30 } },
      { type: 'message_stop' },
    );

    expect(reading).toMatchObject({ usage: { input_tokens: 9, output_tokens: 30 }, isBeginning: false });
  });

  it('of Gemini has the usage of the last event before the client left, including thoughts', () => {
    const event = (text: string, usageMetadata: object) => ({
      candidates: [{ index: 0, content: { parts: [{ text }] } }],
      usageMetadata: { promptTokenCount: 500, ...usageMetadata },
    });
    const reading = left(
      gemini,
      event('One', {}),
      event('two', { candidatesTokenCount: 2, thoughtsTokenCount: 700 }),
    );

    expect(reading).toMatchObject({
      usage: { input_tokens: 500, output_tokens: 702, reasoning_tokens: 700 },
      isBeginning: false,
    });
    expect(left(gemini, event('One', {}))).toMatchObject({
      usage: { input_tokens: 500, output_tokens: 0 },
      isBeginning: true,
      outputText: 'One',
    });
  });
});
