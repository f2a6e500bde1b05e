import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatV2Usage, embedV2Usage } from './v2.js';

const BILLED = { billed_units: { input_tokens: 5, output_tokens: 7 } };
const TOKENS = { tokens: { input_tokens: 71, output_tokens: 9 } };

describe("Cohere's chat", () => {
  it.each([
    ['what is billed', { ...BILLED, ...TOKENS }, { input_tokens: 5, output_tokens: 7 }],
    ['what was read where nothing is billed', TOKENS, { input_tokens: 71, output_tokens: 9 }],
    [
      'what came from the cache',
      { ...BILLED, cached_tokens: 3 },
      { input_tokens: 5, output_tokens: 7, cached_input_tokens: 3 },
    ],
    ['nothing of half a usage', { billed_units: { input_tokens: 5 } }, null],
    ['nothing of a lie', { billed_units: { input_tokens: -1, output_tokens: '7' } }, null],
    ['nothing', null, null],
  ])('reports %s, plain and at the end of a stream', (_, usage, told) => {
    expect(chatV2Usage.fromAnswer({ usage })).toEqual(told);
    expect(chatV2Usage.fromAnswer({ type: 'message-end', delta: { usage } })).toEqual(told);
  });

  it('yields its texts in responses and events', () => {
    const call = { function: { name: 'f', arguments: '{"a":1}' } };
    const content = [
      { type: 'thinking', thinking: 'hm ' },
      { type: 'text', text: 'yes' },
    ];

    expect(chatV2Usage.outputText({ message: { content, tool_plan: '!', tool_calls: [call] } })).toBe(
      'hm yes!{"a":1}',
    );
    const said = [
      { content: { text: 'a' } },
      { content: { thinking: 'b' } },
      { tool_plan: 'c' },
      { tool_calls: call },
    ];
    expect(said.map((message) => chatV2Usage.outputText({ delta: { message } })).join('|')).toBe(
      'a|b|c|{"a":1}',
    );
  });

  it('reads the prompt', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ];
    expect(chatV2Usage.inputText({ messages, documents: ['doc'] })).toBe('Be brief.\nHi\n["doc"]');
  });

  it('is read whatever it says', () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom('usage', 'delta', 'message', 'content', 'tool_calls', 'x') }),
        (answer) => {
          chatV2Usage.fromAnswer(answer);
          expect(typeof chatV2Usage.outputText(answer) + typeof chatV2Usage.inputText(answer)).toBe(
            'stringstring',
          );
        },
      ),
    );
  });
});

it("Cohere's embeddings report the billed usage", () => {
  expect(embedV2Usage.fromAnswer({ meta: { billed_units: { input_tokens: 4 } } })).toEqual({
    input_tokens: 4,
    output_tokens: 0,
  });
  expect(
    embedV2Usage.fromAnswer({ meta: { billed_units: { input_tokens: 4, images: 1, image_tokens: 300 } } }),
  ).toEqual({ input_tokens: 304, output_tokens: 0, image_input_tokens: 300 });
  expect(embedV2Usage.fromAnswer({ meta: { billed_units: { images: 1 } } })).toBeNull();
  expect(embedV2Usage.inputText({ texts: ['a', 'b'] })).toBe('ab');
});
