import { describe, expect, it } from 'vitest';
import { bodyContains } from './body-texts.js';

const events = (...data: object[]): string =>
  `${data.map((each) => `event: x\ndata: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`;

describe('hasText', () => {
  it.each([
    ['a string deep inside', { messages: [{ content: 'Say "Grüße"\nplease' }] }, 'grüße"\nplease'],
    ['a key', { tool_name: 1 }, 'tool_name'],
    ['a number', { id: 4711 }, '4711'],
    ['a text', 'Plain Words', 'plain w'],
    [
      'pieces of a streamed answer (chat completions)',
      events({ choices: [{ delta: { content: 'Hel' } }] }, { choices: [{ delta: { content: 'lo there' } }] }),
      'hello th',
    ],
    [
      'pieces of a streamed answer (messages)',
      events({ type: 'content_block_delta', delta: { text: 'A' } }, { delta: { text: 'pollo' } }),
      'apollo',
    ],
  ])('finds %s', (_, body, needle) => {
    expect(bodyContains(body, needle)).toBe(true);
  });

  it.each([
    ['null', null],
    ['another text', { content: 'something' }],
    ['texts of different places', events({ a: 'apo' }, { b: 'llo' })],
    ['a broken event', 'data: {"a": "apo\n\ndata: llo'],
  ])('finds nothing in %s', (_, body) => {
    expect(bodyContains(body, 'apollo')).toBe(false);
  });
});
