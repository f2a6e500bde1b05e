import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import type { Context } from '../../translation.js';
import { responseOf } from './answer.js';
import { messagesOfInput } from './messages.js';
import { ResponseStream } from './stream.js';
import { ToolNames } from './tool-names.js';

const context = { id: 'req-1', model: 'gemini-3-pro-preview', created: 1, isStrict: true } as Context;
const SIGNATURE = { google: { thought_signature: 'sig' } };
const call = (id: string, extra: Json = {}): Json => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: '{}' },
  ...extra,
});
const CALLS = [call('call_1', { extra_content: SIGNATURE }), call('call_2')];
const MESSAGE = { role: 'assistant', content: 'I look it up.', tool_calls: CALLS };

const whole = () => responseOf({ choices: [{ message: MESSAGE, finish_reason: 'tool_calls' }] }, {}, context);

function streamed(): Json {
  const stream = new ResponseStream({}, context);
  const tool_calls = CALLS.map((it, index) => ({ index, ...it }));
  stream.chunk({ choices: [{ index: 0, delta: { content: 'I look it up.' } }] });
  stream.chunk({ choices: [{ index: 0, delta: { tool_calls }, finish_reason: 'tool_calls' }] });
  const last = stream.end().at(-1);
  return (JSON.parse(last?.data ?? '{}') as { response: Json }).response;
}

/** Codex keeps the fields that OpenAI documents, and drops others. */
const documented = ({ output }: Json) =>
  (output as Json[]).map((item) =>
    Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'extra_content')),
  );

describe('signatures of tool calls in the Responses API', () => {
  it.each([
    ['a whole answer', whole],
    ['a stream', streamed],
  ])('return from %s by a client that keeps only the documented fields', (_, answer) => {
    const [message] = messagesOfInput(documented(answer()), ToolNames.of({}));

    expect(message?.tool_calls).toEqual(CALLS);
    expect(message).not.toHaveProperty('content_blocks');
  });

  it('need no reasoning item where no call is signed', () => {
    const message = { ...MESSAGE, tool_calls: [call('call_2')] };
    const { output } = responseOf({ choices: [{ message, finish_reason: 'tool_calls' }] }, {}, context);

    expect((output as Json[]).map(({ type }) => type)).toEqual(['message', 'function_call']);
  });
});
