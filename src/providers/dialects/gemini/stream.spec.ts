import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import type { Context, TranslatedEvent } from '../../translation.js';
import { ChatStream } from './stream.js';

const context: Context = {
  id: 'exchange-1',
  created: 1,
  model: 'asked',
  isStreamed: true,
  fields: {},
  isStrict: true,
};

function run(
  events: readonly unknown[],
  isStrict = true,
): { steps: TranslatedEvent[]; end: TranslatedEvent; choices: Json[] } {
  const stream = new ChatStream({ ...context, isStrict });
  const steps = events.map((event) =>
    stream.event({ event: null, data: typeof event === 'string' ? event : JSON.stringify(event) }),
  );
  const choices = steps.flatMap(({ chunks }) => chunks).flatMap((chunk) => chunk.choices as Json[]);
  return { steps, end: stream.end(), choices };
}

const candidate = (index: number, text: string, finishReason?: string): Json => ({
  index,
  content: { parts: [{ text }] },
  ...(finishReason && { finishReason }),
});

describe("Gemini's stream", () => {
  it('is complete only when every candidate has finished, and is marked so at its end', () => {
    const first = { candidates: [candidate(0, 'a', 'STOP'), candidate(1, 'b')] };
    const cut = run([first]);
    expect(cut.end.isDone).toBeUndefined();
    const whole = run([first, { candidates: [candidate(1, 'c', 'MAX_TOKENS')] }]);
    expect(whole.steps.some(({ isDone }) => isDone)).toBe(false);
    expect(whole.end.isDone).toBe(true);
    expect(whole.choices).toMatchObject([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: 'stop' },
      { index: 1, delta: { role: 'assistant', content: 'b' }, finish_reason: null },
      { index: 1, delta: { content: 'c' }, finish_reason: 'length' },
    ]);
  });

  it('that never began was cut', () => {
    expect(run([]).end).toEqual({ chunks: [] });
  });

  it('ends with the last reported usage, though the stream was cut', () => {
    const usageMetadata = (candidatesTokenCount: number) => ({ promptTokenCount: 1, candidatesTokenCount });
    const { end } = run([
      { candidates: [candidate(0, 'a')], usageMetadata: usageMetadata(1) },
      { candidates: [candidate(0, 'b')], usageMetadata: usageMetadata(2) },
      { candidates: [candidate(0, 'c')] },
    ]);
    expect(end.isDone).toBeUndefined();
    expect(end.chunks).toMatchObject([
      { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    ]);
  });

  it.each([
    ['no json'],
    [''],
    ['null'],
    ['[]'],
    ['7'],
    [{}],
    [{ candidates: 'x' }],
    [{ candidates: [null] }],
  ])('makes nothing of %j', (event) => {
    expect(run([event]).steps).toEqual([{ chunks: [] }]);
  });

  it('reports a blocked prompt once, as a refusal', () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'No.' } };
    const { choices, end } = run([blocked, blocked]);
    expect(choices).toEqual([
      {
        index: 0,
        delta: { role: 'assistant', refusal: 'No.' },
        logprobs: null,
        finish_reason: 'content_filter',
      },
    ]);
    expect(end.isDone).toBe(true);
  });

  it('breaks off with an error, also when it comes in a list', () => {
    const error = { code: 429, message: 'Too many.', status: 'RESOURCE_EXHAUSTED' };
    for (const event of [{ error }, [{ error }]]) {
      expect(run([event]).steps[0]?.error).toEqual({
        message: 'Too many.',
        type: 'rate_limit_error',
        code: 'RESOURCE_EXHAUSTED',
        param: null,
      });
    }
  });

  it('counts calls over all its events', () => {
    const call = (name: string) => ({
      candidates: [{ index: 0, content: { parts: [{ functionCall: { name } }] } }],
    });
    const calls = run([call('f'), call('f')]).choices.map(({ delta }) => (delta as Json).tool_calls);
    expect(calls).toMatchObject([
      [{ index: 0, id: 'call_exchange1_0' }],
      [{ index: 1, id: 'call_exchange1_1' }],
    ]);
  });

  it('sends thoughts as text, and as numbered blocks when not strict', () => {
    const thought = { candidates: [{ content: { parts: [{ text: 'h', thought: true }] } }] };
    const said = {
      candidates: [{ content: { parts: [{ text: 'a', thoughtSignature: 'sig' }] }, finishReason: 'STOP' }],
    };
    expect(run([thought, thought, said], false).choices.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', reasoning_content: 'h', content_blocks: [{ index: 0, delta: { thinking: 'h' } }] },
      { reasoning_content: 'h', content_blocks: [{ index: 0, delta: { thinking: 'h' } }] },
      {
        content: 'a',
        content_blocks: [{ index: 1, delta: { text: 'a' } }],
        extra_content: { google: { thought_signature: 'sig' } },
      },
    ]);
    expect(run([thought, said]).choices.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', reasoning_content: 'h' },
      { content: 'a' },
    ]);
  });

  it('counts the sources of its last event from the start of the text', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 2, endIndex: 6 }, groundingChunkIndices: [0] }],
    };
    const { choices } = run([
      { candidates: [{ ...candidate(0, 'äb'), groundingMetadata }] },
      { candidates: [{ ...candidate(0, 'cde', 'STOP'), groundingMetadata }] },
    ]);
    expect(choices[0]?.delta).not.toHaveProperty('annotations');
    expect((choices[1]?.delta as Json).annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.example', title: 'A', start_index: 1, end_index: 5 },
      },
    ]);
  });

  it('carries images, speech and probabilities', () => {
    const { choices } = run([
      {
        candidates: [
          {
            content: {
              parts: [
                { inlineData: { mimeType: 'image/png', data: 'AA==' } },
                { inlineData: { mimeType: 'audio/wav', data: 'AA==' } },
                { fileData: { fileUri: 'https://x.example/a.png', mimeType: 'image/png' } },
              ],
            },
            logprobsResult: { chosenCandidates: [{ token: 'a', logProbability: -1 }] },
          },
        ],
      },
    ]);
    expect(choices[0]).toMatchObject({
      delta: {
        images: [
          { image_url: { url: 'data:image/png;base64,AA==' } },
          { image_url: { url: 'https://x.example/a.png' } },
        ],
        audio: { id: 'exchange-1', data: 'AA==' },
      },
      logprobs: { content: [{ token: 'a', logprob: -1 }] },
    });
  });
});
