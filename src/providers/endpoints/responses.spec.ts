import { describe, expect, it } from 'vitest';
import { responsesUsage as reader } from './responses.js';

const usage = {
  input_tokens: 328,
  input_tokens_details: { cached_tokens: 64, cache_write_tokens: 32 },
  output_tokens: 52,
  output_tokens_details: { reasoning_tokens: 40 },
  total_tokens: 380,
};
const read = {
  input_tokens: 328,
  output_tokens: 52,
  cached_input_tokens: 64,
  cache_write_tokens: 32,
  reasoning_tokens: 40,
};

describe('the usage of a response', () => {
  it('has the totals and the finer kinds', () => {
    expect(reader.fromAnswer({ object: 'response', model: 'gpt-5', usage })).toEqual(read);
  });

  it.each(['response.completed', 'response.incomplete', 'response.failed'])(
    'is in the event %s of a stream',
    (type) => {
      expect(reader.fromAnswer({ type, response: { model: 'gpt-5', usage } })).toEqual(read);
    },
  );

  it('is unknown before the stream has ended, and while a response waits in the background', () => {
    expect(reader.fromAnswer({ type: 'response.created', response: { usage: null } })).toBeNull();
    expect(reader.fromAnswer({ object: 'response', status: 'queued', usage: null })).toBeNull();
  });

  it('is unknown when a total is missing or unsound', () => {
    for (const hostile of [undefined, -1, 0.5, '5', null, []]) {
      expect(reader.fromAnswer({ usage: { ...usage, input_tokens: hostile } })).toBeNull();
      expect(reader.fromAnswer({ usage: { ...usage, output_tokens: hostile } })).toBeNull();
    }
  });
});

describe('the model of a response', () => {
  it('is in the response, or in the response object of an event', () => {
    expect(reader.modelOf({ model: 'gpt-5' })).toBe('gpt-5');
    expect(reader.modelOf({ type: 'response.created', response: { model: 'gpt-5' } })).toBe('gpt-5');
    expect(reader.modelOf({ type: 'response.output_text.delta', delta: 'x' })).toBeNull();
  });
});

describe('the text of a response', () => {
  const output = [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm. ' }] },
    { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] },
    { type: 'function_call', name: 'look', arguments: '{"a":1}' },
  ];

  it('is its thoughts, text and calls', () => {
    expect(reader.outputText({ object: 'response', output })).toBe('Hm. Hilook{"a":1}');
  });

  it('is what an event adds, not what the last event repeats, and no audio', () => {
    expect(reader.outputText({ type: 'response.output_text.delta', delta: 'Hi' })).toBe('Hi');
    expect(reader.outputText({ type: 'response.function_call_arguments.delta', delta: '{"a' })).toBe('{"a');
    expect(reader.outputText({ type: 'response.audio.delta', delta: 'UklGRg==' })).toBe('');
    expect(reader.outputText({ type: 'response.completed', response: { output } })).toBe('');
  });

  it('of a request is instructions, input and the definitions of tools', () => {
    const tools = [{ type: 'function', name: 'look' }];

    expect(reader.inputText({ instructions: 'Be brief. ', input: 'Hi', tools })).toBe(
      `Be brief. Hi${JSON.stringify(tools)}`,
    );
    expect(
      reader.inputText({
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'Hi' },
              { type: 'input_image', image_url: 'x' },
            ],
          },
          { role: 'user', content: ' there' },
          { type: 'function_call_output', call_id: 'c', output: ' blue' },
        ],
      }),
    ).toBe('Hi there blue');
  });
});
