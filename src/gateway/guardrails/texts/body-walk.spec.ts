import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyTexts, withTexts } from './body-texts.js';
import { rewriteTexts, textsIn, TooDeep } from './body-walk.js';
import { textTree } from './text-tree.js';

const tree = textTree('messages[].content', 'messages[].content[].text', 'messages[].args.**', 'prompt');
const said = (body: unknown): readonly string[] => bodyTexts(body, tree).said;
const every = (body: unknown): readonly string[] => bodyTexts(body, tree).every;

/** Every string of a value, found by another algorithm than the one under test. */
function stringsIn(value: unknown): string[] {
  const strings: string[] = [];
  JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') strings.push(inner);
    return inner;
  });
  return strings;
}

describe('the texts of a body', () => {
  it('are all strings whose member is not known to hold something else', () => {
    fc.assert(
      fc.property(fc.record({ prompt: fc.jsonValue(), anything: fc.jsonValue() }), (given) => {
        const found = textsIn(given, tree).map(({ text }) => text);
        for (const text of stringsIn(given)) if (/[ @]/.test(text)) expect(found).toContain(text);
      }),
    );
  });

  it('can be written back, each in its own place', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const body = { prompt: 'p', given };
        const marked = rewriteTexts(body, tree, ({ text }) => `${text}!`);

        expect(every(marked)).toEqual(every(body).map((text) => `${text}!`));
        expect(withTexts(body, tree, every(body))).toBe(body);
      }),
    );
  });

  it('are said where the endpoint has its texts, and stand beside elsewhere', () => {
    const body = {
      model: 'gpt',
      prompt: 'a',
      messages: [{ role: 'user', id: 'm_1', content: [{ type: 'text', text: 'b' }] }],
      tools: [{ type: 'function', description: 'c' }],
    };

    expect(said(body)).toEqual(['a', 'b']);
    expect(every(body)).toEqual(['a', 'b', 'c']);
  });

  it('include whatever stands below a place that the interface does not shape, names and numbers too', () => {
    const body = { messages: [{ args: { type: 'a', id: ['b', { model: 4111111111111111 }] } }] };

    expect(every(body)).toEqual(['type', 'a', 'id', 'b', 'model', '4111111111111111']);
    expect(rewriteTexts(body, tree, ({ text }) => (/^4/.test(text) ? '{{CARD}}' : text))).toEqual({
      messages: [{ args: { type: 'a', id: ['b', { model: '{{CARD}}' }] } }],
    });
  });

  it.each([
    ['names of parameters', { parameters: { properties: { 'the name': { type: 'string' } } } }, ['the name']],
    ['metadata', { metadata: { type: 'x' } }, ['type', 'x']],
    [
      'sentences in place of an identifier',
      { id: 'who is it', user_id: 'joe@example.com' },
      ['who is it', 'joe@example.com'],
    ],
    [
      'identifiers and enumerations',
      { id: 'call_1', tool_call_id: 'c', role: 'user', finish_reason: 'stop' },
      [],
    ],
    ['pictures', { image_url: { url: 'data:image/png;base64,AAAA' }, b64_json: 'A'.repeat(64) }, []],
    ['texts in base64', { mimeType: 'text/plain', data: 'QXBvbGxv' }, ['Apollo']],
    ['data URLs of texts', { url: 'data:text/plain;base64,QXBvbGxv' }, ['Apollo']],
    [
      'texts that only look like base64',
      { type: 'text', media_type: 'text/plain', data: 'Apollo' },
      ['Apollo'],
    ],
    ['addresses', { url: 'https://example.com/Apollo' }, ['https://example.com/Apollo']],
  ])('know %s', (_, body, texts) => {
    expect(every(body)).toEqual(texts);
  });

  it('are not looked for where a body is nested too deep', () => {
    let args: unknown = 'text';
    for (let depth = 0; depth < 250; depth++) args = depth % 2 === 0 ? [args] : { args };

    expect(() => said({ messages: [{ args }] })).toThrow(TooDeep);
    expect(() => rewriteTexts({ elsewhere: args }, tree, ({ text }) => text)).toThrow(TooDeep);
  });
});
