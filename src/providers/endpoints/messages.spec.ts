import { describe, expect, it } from 'vitest';
import type { Usage } from '../../common/contracts/usage.js';
import type { Json } from '../endpoint.js';
import { messagesUsage as reader } from './messages.js';

const told = (events: readonly Json[]): Usage | null =>
  events.reduce<Usage | null>((known, event) => reader.fromAnswer(event, known) ?? known, null);
const start = (usage: Json): Json => ({
  type: 'message_start',
  message: { model: 'claude-opus-4-5', usage },
});
const delta = (usage: unknown): Json => ({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage,
});

describe('the usage of a message', () => {
  it('counts cache reads and writes as input, which Anthropic does not', () => {
    const usage = {
      input_tokens: 21,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 1000,
      output_tokens: 393,
      output_tokens_details: { thinking_tokens: 200 },
    };

    expect(reader.fromAnswer({ type: 'message', usage })).toEqual({
      input_tokens: 1121,
      output_tokens: 393,
      cached_input_tokens: 1000,
      cache_write_tokens: 100,
      reasoning_tokens: 200,
    });
  });

  it('has only totals when there is no cache', () => {
    expect(
      reader.fromAnswer({ usage: { input_tokens: 9, output_tokens: 3, cache_read_input_tokens: null } }),
    ).toEqual({ input_tokens: 9, output_tokens: 3 });
  });

  it('is put together from the first and the last event of a stream', () => {
    const events = [
      start({ input_tokens: 25, cache_read_input_tokens: 10, output_tokens: 1 }),
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      delta({ output_tokens: 15 }),
      { type: 'message_stop' },
    ];

    expect(told(events)).toEqual({ input_tokens: 35, output_tokens: 15, cached_input_tokens: 10 });
  });

  it('uses the last of several deltas, whose counts are totals', () => {
    const events = [
      start({ input_tokens: 25, output_tokens: 1 }),
      delta({ output_tokens: 10 }),
      delta({ input_tokens: 480, cache_read_input_tokens: 20, output_tokens: 90 }),
    ];

    expect(told(events)).toEqual({ input_tokens: 500, output_tokens: 90, cached_input_tokens: 20 });
  });

  it('takes the input from the delta when the start reported none', () => {
    expect(
      told([start({ input_tokens: 0, output_tokens: 0 }), delta({ input_tokens: 7, output_tokens: 2 })]),
    ).toEqual({ input_tokens: 7, output_tokens: 2 });
  });

  it('keeps the input when a delta repeats it as zero', () => {
    const events = [
      start({ input_tokens: 7, cache_creation_input_tokens: 3, output_tokens: 1 }),
      delta({ input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 2 }),
    ];

    expect(told(events)).toEqual({ input_tokens: 10, output_tokens: 2, cache_write_tokens: 3 });
  });

  it('is unknown when a delta comes alone without input', () => {
    expect(reader.fromAnswer(delta({ output_tokens: 15 }))).toBeNull();
  });

  it.each([-1, 1e30, 0.5, '12', null, {}])('is unknown when a total is %s', (hostile) => {
    expect(reader.fromAnswer({ usage: { input_tokens: hostile, output_tokens: 1 } })).toBeNull();
    expect(reader.fromAnswer({ usage: { input_tokens: 1, output_tokens: hostile } })).toBeNull();
  });

  it('is unknown when the sum is no exact integer', () => {
    const most = Number.MAX_SAFE_INTEGER;

    expect(
      reader.fromAnswer({ usage: { input_tokens: most, cache_read_input_tokens: most, output_tokens: 1 } }),
    ).toBeNull();
  });
});

describe('the model of a message', () => {
  it('is in the response, or in the first event', () => {
    expect(reader.modelOf({ model: 'claude-opus-4-5' })).toBe('claude-opus-4-5');
    expect(reader.modelOf(start({}))).toBe('claude-opus-4-5');
    expect(reader.modelOf(delta({}))).toBeNull();
  });
});

describe('the text of a message', () => {
  it('is text, thinking and calls of tools', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm. ', signature: 'abc' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } },
    ];

    expect(reader.outputText({ content })).toBe('Hm. Let me look.look{"at":"sky"}');
  });

  it('is what an event of a stream adds', () => {
    const block = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };

    expect(reader.outputText({ type: 'content_block_start', content_block: block })).toBe('look');
    expect(reader.outputText({ delta: { type: 'text_delta', text: 'Hi' } })).toBe('Hi');
    expect(reader.outputText({ delta: { type: 'thinking_delta', thinking: 'Hm' } })).toBe('Hm');
    expect(reader.outputText({ delta: { type: 'input_json_delta', partial_json: '{"a' } })).toBe('{"a');
    expect(reader.outputText({ delta: { type: 'signature_delta', signature: 'abc' } })).toBe('');
    expect(reader.outputText(start({}))).toBe('');
  });

  it('of a request is the system, all turns with the results of tools, and the definitions of tools', () => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const request = {
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', name: 'look', input: { a: 1 } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'blue' }] }],
        },
        { role: 'user', content: [{ type: 'image', source: { type: 'base64', data: 'AAAA' } }] },
      ],
      tools,
    };

    expect(reader.inputText(request)).toBe(`Be brief.Hi\nlook{"a":1}\nblue\n\n${JSON.stringify(tools)}`);
  });
});
