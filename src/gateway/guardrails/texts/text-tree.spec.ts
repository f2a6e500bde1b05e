import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rewriteTexts, textsOf, textTree, TooDeep } from './text-tree.js';

const tree = textTree('messages[].content', 'messages[].content[].text', 'messages[].args.**', 'prompt');

const leaf = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.boolean());
const content = fc.oneof(leaf, fc.array(fc.oneof(leaf, fc.record({ text: leaf, index: fc.nat(3) }))));
const body = fc.record({
  prompt: leaf,
  messages: fc.oneof(
    leaf,
    fc.array(fc.oneof(leaf, fc.record({ content, args: fc.jsonValue({ maxDepth: 4 }) }))),
  ),
});

describe('the texts of a body', () => {
  it('are those that can be rewritten, in the same order', () => {
    fc.assert(
      fc.property(body, (given) => {
        const visited: string[] = [];
        rewriteTexts(given, tree, (text) => {
          visited.push(text);
          return text;
        });

        expect(textsOf(given, tree)).toEqual(visited);
      }),
    );
  });

  it('are not looked for where a body is nested too deep', () => {
    let args: unknown = 'text';
    for (let depth = 0; depth < 250; depth++) args = depth % 2 === 0 ? [args] : { args };

    expect(() => textsOf({ messages: [{ args }] }, tree)).toThrow(TooDeep);
    expect(() => rewriteTexts({ messages: [{ args }] }, tree, (text) => text)).toThrow(TooDeep);
  });
});
