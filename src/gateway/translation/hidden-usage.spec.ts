import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../test/support/random.js';
import { HiddenUsage } from './hidden-usage.js';

const passed = (pieces: readonly Buffer[]): string => {
  const hidden = new HiddenUsage();
  return Buffer.concat([...pieces.map((piece) => hidden.feed(piece)), hidden.end()]).toString();
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
    [
      'such an event with carriage returns alone',
      'data: 1\r\rdata: {"choices":[],"usage":{}}\r\rdata: [DONE]\r\r',
      'data: 1\r\rdata: [DONE]\r\r',
    ],
    [
      'such an event after a byte order mark',
      '\ufeffdata: {"choices":[],"usage":{}}\n\ndata: 1\n\n',
      'data: 1\n\n',
    ],
    [
      'such an event of several lines',
      'data: {"choices":[],\ndata: "usage":{}}\n\ndata: 1\n\n',
      'data: 1\n\n',
    ],
    [
      'such an event with an escaped name',
      'data: {"choices":[],"u\\u0073a\\u0067e":{}}\n\ndata: 1\n\n',
      'data: 1\n\n',
    ],
    [
      'such an event with a name and an id',
      ': c\n\nid: 1\nevent: x\ndata: {"choices":[],"usage":{}}\n\n',
      ': c\n\nid: 1\n',
    ],
    ['an escaped null', 'data: {"a":"ü","\\u0075sage":null}\n\n', 'data: {"a":"ü"}\n\n'],
    ['a null of several lines', 'data: {"a":1,\ndata: "usage":null}\n\n', 'data: {"a":1}\n\n'],
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

  it.each(['\n', '\r\n', '\r'])('sees the same stream however it is cut, with line ends of %j', (lineEnd) => {
    const inLines = (text: string): string => text.replaceAll('\n', lineEnd);
    const text = [
      'data: {"choices":[{"delta":{"content":"ä"}}],"usage":null}\n\n',
      ': comment\n\n',
      'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n',
      'data: [DONE]\n\n',
    ].join('');
    const bytes = Buffer.from(inLines(text));
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
        inLines('data: {"choices":[{"delta":{"content":"ä"}}]}\n\n: comment\n\ndata: [DONE]\n\n'),
      );
    }
  });

  it.each([
    ['a comment', ': ping\n\n'],
    ['a comment with CRLF', ': ping\r\n\r\n'],
    ['an event', 'data: "usage"\n\n'],
    ['an event with carriage returns alone', 'data: "usage"\r\r'],
    ['a body without events', '{"usage":null}\n'],
  ])('passes %s as soon as it is whole', (_, text) => {
    expect(new HiddenUsage().feed(Buffer.from(text)).toString()).toBe(text);
  });

  it('passes a line that is too long to be held, and reads the next one', () => {
    const long = `data: "${'x'.repeat(1024 * 1024)}`;
    const pieces = [long, 'more"\n\n', 'data: {"choices":[],"usage":{}}\n\n'];
    expect(passed(pieces.map((piece) => Buffer.from(piece)))).toBe(`${long}more"\n\n`);
  });
});
