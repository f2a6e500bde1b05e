import { describe, expect, it } from 'vitest';
import { requestMessages, responseMessages } from './message';

const text = (value: string) => [{ kind: 'text', text: value }];

describe('messages', () => {
  it.each([
    ['OpenAI Chat', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['OpenAI Chat in parts', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
    ['OpenAI Responses', { input: 'Hi' }],
    [
      'OpenAI Responses in items',
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] },
    ],
    ['Anthropic', { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
    ['Google', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
  ])('of a request of %s are read', (_name, body) => {
    expect(requestMessages(body)).toEqual([{ role: 'user', parts: text('Hi') }]);
  });

  it.each([
    ['OpenAI Chat', { choices: [{ message: { role: 'assistant', content: 'Hello' } }] }],
    [
      'OpenAI Responses',
      { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }] },
    ],
    ['Anthropic', { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }],
    ['Google', { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] } }] }],
  ])('of a %s response are read', (_name, body) => {
    expect(responseMessages(body)).toEqual([{ role: 'assistant', parts: text('Hello') }]);
  });

  it('show tools with their arguments, and reasoning apart', () => {
    const body = {
      choices: [
        {
          message: {
            content: null,
            reasoning_content: 'Hm',
            tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Bern"}' } }],
          },
        },
      ],
    };
    expect(responseMessages(body)[0]?.parts).toEqual([
      { kind: 'reasoning', text: 'Hm' },
      { kind: 'toolCall', name: 'weather', text: '{\n  "city": "Bern"\n}' },
    ]);
  });

  it('show an image only when its bytes are in the document: an address would be a request to another origin', () => {
    const image = (url: string) =>
      requestMessages({
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
      })[0]?.parts;
    expect(image('https://tracker.example/pixel.png')).toEqual([{ kind: 'image', source: null }]);
    expect(image('data:image/svg+xml;base64,PHN2Zz4=')).toEqual([{ kind: 'image', source: null }]);
    expect(image('data:image/png;base64,iVBORw0KGgo=')).toEqual([
      { kind: 'image', source: 'data:image/png;base64,iVBORw0KGgo=' },
    ]);
  });

  it.each([null, 'text', 7, [], { messages: 'no list' }, { messages: [null, 3] }, { choices: [{}] }])(
    'of what has none are none: %j',
    (body) => {
      expect(() => [...requestMessages(body), ...responseMessages(body)]).not.toThrow();
    },
  );
});
