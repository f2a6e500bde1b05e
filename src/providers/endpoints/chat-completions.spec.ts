import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../endpoint.js';
import { chatCompletionsUsage as reader } from './chat-completions.js';

const usage = (raw: unknown) => reader.fromAnswer({ usage: raw });
const bare = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

describe('the usage of a chat response', () => {
  it('has the totals and the finer kinds that OpenAI reports', () => {
    expect(
      usage({
        prompt_tokens: 2006,
        completion_tokens: 300,
        total_tokens: 2306,
        prompt_tokens_details: { cached_tokens: 1920, audio_tokens: 5, cache_write_tokens: 7 },
        completion_tokens_details: {
          reasoning_tokens: 128,
          audio_tokens: 9,
          accepted_prediction_tokens: 1,
          rejected_prediction_tokens: 1,
        },
      }),
    ).toEqual({
      input_tokens: 2006,
      output_tokens: 300,
      cached_input_tokens: 1920,
      audio_input_tokens: 5,
      cache_write_tokens: 7,
      reasoning_tokens: 128,
      audio_output_tokens: 9,
    });
  });

  it('has only totals when nothing finer is reported', () => {
    expect(usage(bare)).toEqual({ input_tokens: 10, output_tokens: 4 });
    expect(
      usage({ ...bare, prompt_tokens_details: null, completion_tokens_details: { reasoning_tokens: 0 } }),
    ).toEqual({
      input_tokens: 10,
      output_tokens: 4,
    });
  });

  it("reads DeepSeek's cache hits", () => {
    expect(usage({ ...bare, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 })).toMatchObject({
      cached_input_tokens: 8,
    });
  });

  it("reads Groq's usage from the last chunk of a stream", () => {
    const chunk = { choices: [{ delta: {}, finish_reason: 'stop' }], x_groq: { id: 'req_1', usage: bare } };

    expect(reader.fromAnswer(chunk)).toEqual({ input_tokens: 10, output_tokens: 4 });
  });

  it("adds xAI's reasoning, which is counted beside the completion", () => {
    const raw = {
      prompt_tokens: 10,
      completion_tokens: 50,
      total_tokens: 260,
      completion_tokens_details: { reasoning_tokens: 200 },
    };

    expect(usage(raw)).toEqual({ input_tokens: 10, output_tokens: 250, reasoning_tokens: 200 });
  });

  it('does not add reasoning that the completion already contains', () => {
    const raw = {
      prompt_tokens: 10,
      completion_tokens: 250,
      total_tokens: 260,
      completion_tokens_details: { reasoning_tokens: 200 },
    };

    expect(usage(raw)).toMatchObject({ output_tokens: 250, reasoning_tokens: 200 });
  });

  it.each([-1, 1e18, 1e30, 0.5, '12', Number.NaN, null, undefined, true, {}, []])(
    'is unknown when a total is %s',
    (hostile) => {
      expect(usage({ ...bare, prompt_tokens: hostile })).toBeNull();
      expect(usage({ ...bare, completion_tokens: hostile })).toBeNull();
    },
  );

  it.each([-1, 1e30, 0.5, '12', null, {}])('ignores a finer count of %s', (hostile) => {
    expect(
      usage({
        ...bare,
        prompt_tokens_details: { cached_tokens: hostile },
        completion_tokens_details: { reasoning_tokens: hostile },
      }),
    ).toEqual({ input_tokens: 10, output_tokens: 4 });
  });

  it('cuts a finer count to its total', () => {
    expect(usage({ ...bare, prompt_tokens_details: { cached_tokens: 1000 } })).toMatchObject({
      cached_input_tokens: 10,
    });
  });

  it('is unknown where there is none', () => {
    for (const raw of [undefined, null, 'x', [], {}]) expect(usage(raw)).toBeNull();
  });
});

describe('the text of a chat response', () => {
  it('is content, refusal, reasoning and tool calls of every choice', () => {
    const answer = {
      choices: [
        { message: { content: 'one', refusal: 'two', reasoning_content: 'three' } },
        { message: { content: null, tool_calls: [{ function: { name: 'four', arguments: '{"five":1}' } }] } },
      ],
    };

    expect(reader.outputText(answer)).toBe('onetwothreefour{"five":1}');
  });

  it('is what a chunk adds', () => {
    expect(reader.outputText({ choices: [{ delta: { content: 'Hel' } }] })).toBe('Hel');
    // Perplexity repeats the response so far beside each piece.
    const piece = { delta: { content: 'lo' }, message: { content: 'Hello' } };
    expect(reader.outputText({ choices: [piece] })).toBe('lo');
    expect(
      reader.outputText({
        choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"a' } }] } }],
      }),
    ).toBe('{"a');
    expect(reader.outputText({ choices: [], usage: bare })).toBe('');
  });

  it('counts reasoning once when a provider sends it under two names', () => {
    expect(reader.outputText({ choices: [{ delta: { reasoning: 'why', reasoning_content: 'why' } }] })).toBe(
      'why',
    );
  });

  it("reads Mistral's content, which is a list of parts", () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm ' }] },
      { type: 'text', text: 'yes' },
    ];

    expect(reader.outputText({ choices: [{ message: { content } }] })).toBe('hm yes');
  });
});

describe('the input text of a chat request', () => {
  it('is all text of the messages and the definitions of tools', () => {
    const tools = [{ type: 'function', function: { name: 'look_up' } }];
    const request = {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
      tools,
    };

    expect(reader.inputText(request)).toBe(`Be brief.\nWhat is this?\n${JSON.stringify(tools)}`);
  });
});

describe('reading unknown fields', () => {
  const names = [
    'usage',
    'x_groq',
    'choices',
    'message',
    'delta',
    'content',
    'tool_calls',
    'function',
    'messages',
    'tools',
    'prompt_tokens',
    'completion_tokens',
    'total_tokens',
    'prompt_tokens_details',
    'completion_tokens_details',
    'cached_tokens',
    'reasoning_tokens',
    'arguments',
    'text',
    'thinking',
  ];
  const anything = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'medium' }, fc.jsonValue(), fc.double(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
  }));

  it('never throws, and reads only sound numbers', () => {
    fc.assert(
      fc.property(anything.object, (value) => {
        const json = value as Json;
        const read = reader.fromAnswer(json);

        expect(typeof reader.outputText(json)).toBe('string');
        expect(typeof reader.inputText(json)).toBe('string');
        for (const tokens of Object.values(read ?? {})) {
          expect(Number.isSafeInteger(tokens)).toBe(true);
          expect(tokens).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('survives nesting without end', () => {
    const deep = JSON.parse('[{"text":'.repeat(100_000) + '1' + '}]'.repeat(100_000));

    expect(reader.inputText({ messages: [{ content: deep }], tools: deep })).toMatch(/^\n\[\{"text":/);
    expect(reader.outputText({ choices: [{ message: { content: deep } }] })).toBe('');
  });
});
