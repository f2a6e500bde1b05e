import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../test/support/random.js';
import { HiddenUsage } from './hidden-usage.js';

const passed = (pieces: readonly Buffer[]): string => {
  const hidden = new HiddenUsage('latin1');
  return Buffer.concat([...pieces.map((piece) => hidden.feedBytes(piece)), hidden.endBytes()]).toString();
};
const whole = (text: string): string => passed([Buffer.from(text)]);

describe('HiddenUsage', () => {
  it.each([
    ['a null at the end', 'data: {"choices":[{}],"usage":null}\n\n', 'data: {"choices":[{}]}\n\n'],
    ['a null elsewhere', 'data: {"usage": null, "choices":[{}]}\r\n\r\n', 'data: {"choices":[{}]}\r\n\r\n'],
    ['a null before text', 'data:{"id":"ü","usage":null,"z":{"a":1}}\n\n', 'data:{"id":"ü","z":{"a":1}}\n\n'],
    ['the event with the usage alone', 'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\nrest', 'rest'],
    [
      'such an event with CRLF',
      'data: {"choices":[],"usage":{}}\r\n\r\ndata: [DONE]\r\n\r\n',
      'data: [DONE]\r\n\r\n',
    ],
    ['such an event at the very end', 'data: 1\n\ndata: {"choices":[],"usage":{}}', 'data: 1\n\n'],
  ])('takes out %s', (_, text, expected) => {
    expect(whole(text)).toBe(expected);
  });

  it.each([
    ['a usage beside output', 'data: {"choices":[{}],"usage":{"prompt_tokens":1}}\n\n'],
    ['a usage of something else', 'data: {"choices":[{"usage":null}]}\n\n'],
    [
      'a usage of something else, after other fields',
      'data: {"choices":[],"x_groq":{"id":1,"usage":null}}\n\n',
    ],
    ['a text about a usage', 'data: {"choices":[{"delta":{"content":",\\"usage\\":null}"}}]}\n\n'],
    ['what is no JSON', 'data: {"usage":null\n\ndata: "usage"\n\n: "usage":null}\n\n'],
    ['a filter report of Azure', 'data: {"choices":[],"prompt_filter_results":[]}\n\n'],
  ])('leaves %s', (_, text) => {
    expect(whole(text)).toBe(text);
  });

  it('sees the same stream however it is cut', () => {
    const text = [
      'data: {"choices":[{"delta":{"content":"ä"}}],"usage":null}\n\n',
      ': comment\n\n',
      'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n',
      'data: [DONE]\n\n',
    ].join('');
    const bytes = Buffer.from(text);
    const seed = SeededRandom.seedFrom('STREAM_CUTS_SEED');
    const random = new SeededRandom(seed);
    for (let round = 0; round < 200; round++) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes.length;) {
        const end = at + random.whole(1, 40);
        pieces.push(bytes.subarray(at, end));
        at = end;
      }
      expect(passed(pieces), `STREAM_CUTS_SEED=${seed}`).toBe(
        'data: {"choices":[{"delta":{"content":"ä"}}]}\n\n: comment\n\ndata: [DONE]\n\n',
      );
    }
  });

  it('holds no event of a stream whose lines end with carriage returns alone', () => {
    const hidden = new HiddenUsage('latin1');
    const event = Buffer.from('data: {"choices":[],"usage":{}}\r\r');
    expect([event, event].map((bytes) => hidden.feedBytes(bytes).toString())).toEqual([
      event.toString(),
      event.toString(),
    ]);
  });

  it('passes a line that is too long to be held, and reads the next one', () => {
    const long = `data: "${'x'.repeat(1024 * 1024)}`;
    const pieces = [long, 'more"\n\n', 'data: {"choices":[],"usage":{}}\n\n'];
    expect(passed(pieces.map((piece) => Buffer.from(piece)))).toBe(`${long}more"\n\n`);
  });
});
