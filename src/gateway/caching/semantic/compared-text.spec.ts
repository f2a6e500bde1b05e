import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../providers/endpoint.js';
import { comparedIn } from './compared-text.js';

const user = (content: unknown) => ({ role: 'user', content });
const SYSTEM = { role: 'system', content: 'Be brief.' };
const chat = (...messages: unknown[]): Json => ({ model: 'm', messages });
const restOf = (body: Json) => comparedIn('chat-completions', body)?.rest;

describe('what is compared', () => {
  it.each([
    ['chat-completions', chat(SYSTEM, user('why?')), 'why?'],
    [
      'chat-completions',
      chat(
        user([
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ]),
      ),
      'a\nb',
    ],
    ['completions', { model: 'm', prompt: 'why?' }, 'why?'],
    ['messages', { ...chat(user('why?')), system: 'Be brief.' }, 'why?'],
    ['responses', { model: 'm', input: 'why?' }, 'why?'],
    ['responses', { model: 'm', input: [user([{ type: 'input_text', text: 'why?' }])] }, 'why?'],
  ] as const)('is the last text of the user: %s %j', (endpoint, body, text) => {
    expect(comparedIn(endpoint, body)?.text).toBe(text);
  });

  it.each([
    ['embeddings', { model: 'm', input: 'why?' }],
    ['chat-completions', chat()],
    ['chat-completions', chat(user(''))],
    ['chat-completions', chat(user('why?'), { role: 'assistant', content: 'Because' })],
    ['chat-completions', chat(user('why?'), { role: 'tool', tool_call_id: 't', content: 'why?' })],
    ['chat-completions', chat(SYSTEM, user('a'), SYSTEM, user('b'), user('c'))],
    ['chat-completions', chat(user('x'.repeat(8_001)))],
    ['chat-completions', chat(user([{ type: 'image_url', image_url: { url: 'data:' } }]))],
    ['completions', { model: 'm', prompt: ['a', 'b'] }],
    ['messages', chat(user([{ type: 'tool_result', tool_use_id: 't', content: 'why?' }]))],
  ] as const)('is nothing of %s %j', (endpoint, body) => {
    expect(comparedIn(endpoint, body)).toBeNull();
  });
});

describe('what must be identical', () => {
  const words = fc.array(fc.constantFrom('why', 'is', 'the', 'sky', 'Blau', '是'), { minLength: 1 });

  it('is not the text', () => {
    fc.assert(
      fc.property(words, words, (one, other) => {
        expect(restOf(chat(SYSTEM, user(one.join(' '))))).toBe(restOf(chat(SYSTEM, user(other.join(' ')))));
      }),
    );
  });

  it('is every other member of the body, and every turn before', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()));
    const members = fc.dictionary(fc.constantFrom('tools', 'seed', 'response_format', 'user'), value);
    fc.assert(
      fc.property(members, members, fc.string(), fc.string(), (one, other, before, after) => {
        const bodyOf = (rest: Json, turn: string) => ({
          ...chat({ ...SYSTEM, content: turn }, user('why?')),
          ...rest,
        });
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other)) && before === after;
        expect(restOf(bodyOf(one, before)) === restOf(bodyOf(other, after))).toBe(isSame);
      }),
    );
  });

  it.each([
    ['where is order 4711?', 'where is order 4712?'],
    ['from 3 to 5', 'from 5 to 3'],
    ['write to ann@example.com', 'write to bob@example.com'],
    ['what does https://example.com/a say', 'what does https://example.com/b say'],
    ['is it true?', 'is it true on the 1st?'],
    ['٣ apples', '٤ apples'],
  ])('are numbers and addresses in the text: %s / %s', (one, other) => {
    expect(restOf(chat(user(one)))).not.toBe(restOf(chat(user(other))));
  });

  it('are those without the marks around them, in any case', () => {
    expect(restOf(chat(user('tell me of "GPT-4".')))).toBe(restOf(chat(user('about gpt-4, please!'))));
  });
});

const sorted = (members: Json) => Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1));
