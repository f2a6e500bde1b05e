import { describe, expect, it } from 'vitest';
import { mutated, VALID_ANSWERS } from '../../../test/support/http1.js';
import { Dice } from '../../../test/support/random-bodies.js';
import { Http1Error } from './http1-error.js';
import { type ResponseEvents, ResponseParser } from './response-parser.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

interface ParsedResponse {
  readonly head: unknown;
  readonly body: string;
  readonly end: string | null;
}

/** The events of a response whose bytes arrive in these chunks, followed by the end of the connection. */
function heardOf(pieces: readonly Buffer[], isHeadRequest = false): ParsedResponse {
  let head: unknown = null;
  let end: string | null = null;
  const body: Buffer[] = [];
  const events: ResponseEvents = {
    onHead: ({ status, statusText, headers, keepAliveSeconds }) => {
      expect(head).toBeNull();
      head = [status, statusText, [...headers], keepAliveSeconds];
      return true;
    },
    onBody: (bytes) => {
      expect([head === null, end, bytes.length === 0]).toEqual([false, null, false]);
      return body.push(bytes) > 0;
    },
    onEnd: (isReusable) => {
      expect(end).toBeNull();
      end = isReusable ? 'reusable' : 'not reusable';
    },
  };
  const parser = new ResponseParser(events);
  parser.begin(isHeadRequest);
  try {
    for (const piece of pieces) parser.push(piece);
    parser.finish();
  } catch (error) {
    if (!(error instanceof Http1Error)) throw error;
    end = error.code;
  }
  return { head, body: Buffer.concat(body).toString('latin1'), end };
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const whole = (text: string, isHeadRequest = false): ParsedResponse => heardOf([bytes(text)], isHeadRequest);
const byteByByte = (text: string): ParsedResponse => heardOf(Array.from(text, bytes));

function cut(dice: Dice, text: string): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < text.length;) {
    const next = at + 1 + dice.below(12);
    pieces.push(bytes(text.slice(at, next)));
    at = next;
  }
  return pieces;
}

describe('a response', () => {
  it.each(VALID_ANSWERS)('is whole however its bytes come: %j', (answer) => {
    const heard = whole(answer);
    const dice = new Dice(1);

    expect(heard.end).toMatch(/reusable/);
    expect(byteByByte(answer)).toEqual(heard);
    for (let round = 0; round < 50; round++) expect(heardOf(cut(dice, answer))).toEqual(heard);
  });

  it('means the same however its bytes come, also where it is broken', () => {
    const dice = new Dice(2);
    for (let round = 0; round < 5_000; round++) {
      const answer = mutated(dice, dice.pick(VALID_ANSWERS));
      // Bytes after the end are only seen if they arrive with it.
      const { head, body, end } = whole(answer);
      const expected = end === 'not reusable' ? /reusable/ : new RegExp(`^${end}$`);
      for (const other of [byteByByte(answer), heardOf(cut(dice, answer))]) {
        expect(other.end, JSON.stringify(answer)).toMatch(expected);
        if (/reusable/.test(end ?? '')) expect([other.head, other.body]).toEqual([head, body]);
      }
    }
  });

  it('keeps its header names as they were written', () => {
    const { head } = whole(
      `HTTP/1.1 200 All  is\twell \xe9\r\nX-a: b \r\nx-A:\t c:d\r\nempty:\r\ncontent-length: 0\r\n\r\n`,
    );

    expect(head).toEqual([
      200,
      'All  is\twell \xe9',
      ['X-a', 'b ', 'x-A', 'c:d', 'empty', '', 'content-length', '0'],
      -1,
    ]);
  });

  it.each([100, 102, 103])('follows interim responses of status %d that no request expects', (status) => {
    const interim = `HTTP/1.1 ${status} Wait\r\nx: y\r\n\r\n`;
    const answer = `${interim}${interim}${OK}content-length: 2\r\n\r\nok`;
    expect(whole(answer)).toMatchObject({ body: 'ok', end: 'reusable' });
  });

  it.each([
    ['a HEAD, whatever it says of its length', `${OK}content-length: 5\r\n\r\n`, true],
    ['a HEAD, though it says that it is chunked', CHUNKED, true],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', false],
    [
      '304, which tells the length of what was not sent',
      'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n',
      false,
    ],
  ])('has no body after %s', (_, answer, isHead) => {
    expect(whole(answer, isHead)).toMatchObject({ body: '', end: 'reusable' });
  });

  it.each([
    ['it says close', `${OK}connection: a, Close\r\ncontent-length: 2\r\n\r\nok`],
    ['it is of version 1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    [
      'it is of version 1.0 and chunked',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ],
    ['more bytes came than it has', `${OK}content-length: 2\r\n\r\nokHTTP/1.1 200 OK`],
    ['its body ends with the connection', `${OK}\r\nok`],
  ])('is whole and the last of its connection where %s', (_, answer) => {
    expect(whole(answer)).toMatchObject({ body: 'ok', end: 'not reusable' });
  });

  it.each([
    ['inside the head', `${OK}content-le`],
    ['before the head', ''],
    ['inside a body', `${OK}content-length: 9\r\n\r\nhello`],
    ['inside a chunk', `${CHUNKED}5\r\nhel`],
    ['before the last chunk', `${CHUNKED}5\r\nhello\r\n`],
    ['inside the trailers', `${CHUNKED}0\r\nx: y\r\n`],
  ])('that is cut %s is incomplete', (_, answer) => {
    expect(whole(answer).end).toBe('HTTP1_CONNECTION_CLOSED');
  });
});

const LINE_PROBLEMS: readonly (readonly [string, string])[] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['another protocol whose line has not ended', 'SSH-2.0'],
  ['version 2.0', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['version 0.9', 'HTTP/0.9 200 OK\r\n\r\n'],
  ['version 1.10', 'HTTP/1.10 200 OK\r\n\r\n'],
  ['a lower-case version', 'http/1.1 200 OK\r\n\r\n'],
  ['an empty line first', `\r\n${OK}\r\n`],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status in words', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['the status 000', 'HTTP/1.1 000\r\n\r\n'],
  ['two blanks before the status', 'HTTP/1.1  200 OK\r\n\r\n'],
  ['a tab before the reason', 'HTTP/1.1 200\tOK\r\n\r\n'],
  ['NUL in the reason', 'HTTP/1.1 200 O\0K\r\n\r\n'],
  ['a bare LF after the status line', 'HTTP/1.1 200 OK\nx: y\r\n\r\n'],
  ['a bare CR in the reason', 'HTTP/1.1 200 O\rK\r\n\r\n'],
  [
    'an interim answer that ends the connection',
    `HTTP/1.0 102 Processing\r\n\r\n${OK}content-length: 0\r\n\r\n`,
  ],
  ['101, which nobody asked for', 'HTTP/1.1 101 Switching\r\n\r\n'],
];

const FIELD_PROBLEMS: readonly (readonly [string, string])[] = [
  ['a blank before the colon', 'x : y'],
  ['no colon', 'x'],
  ['no name', ': y'],
  ['a name that is no token', 'x(: y'],
  ['a name outside ASCII', 'x\xe9: y'],
  ['a folded line', 'x: y\r\n z: 1'],
  ['a line that begins with a tab', '\tx: y'],
  ['NUL in a value', 'x: a\0b'],
  ['DEL in a value', 'x: a\x7fb'],
  ['a bare LF in a value', 'x: a\nb: c'],
  ['a bare CR in a value', 'x: a\rb'],
  ['two CRs', 'x: a\r\r\nb: c'],
  ['two lengths', 'content-length: 2\r\ncontent-length: 3'],
  ['the same length twice', 'content-length: 2\r\nContent-Length: 2'],
  ['a list of lengths', 'content-length: 2, 2'],
  ['a length with a sign', 'content-length: +2'],
  ['a negative length', 'content-length: -2'],
  ['a hexadecimal length', 'content-length: 0x2'],
  ['a broken length', 'content-length: 2.0'],
  ['a length in two words', 'content-length: 2 2'],
  ['an empty length', 'content-length: '],
  ['a length that no number holds', 'content-length: 9007199254740993'],
  ['an endless length', `content-length: ${'9'.repeat(400)}`],
  ['a length and chunks', 'content-length: 2\r\ntransfer-encoding: chunked'],
  ['chunks and a length', 'transfer-encoding: chunked\r\ncontent-length: 2'],
  ['another transfer-encoding', 'transfer-encoding: gzip'],
  ['two transfer-encodings', 'transfer-encoding: gzip, chunked'],
  ['chunks twice', 'transfer-encoding: chunked\r\ntransfer-encoding: chunked'],
  ['chunks that are not the last', 'transfer-encoding: chunked, identity'],
  ['a tab after the transfer-encoding', 'transfer-encoding: chunked\t'],
  ['a tab after the length', 'content-length: 2\t'],
  ['an empty transfer-encoding', 'transfer-encoding:'],
  ['chunks by a longer name', 'transfer-encoding: xchunked'],
];

const CHUNK_PROBLEMS: readonly (readonly [string, string])[] = [
  ['no size', '\r\nhello\r\n0\r\n\r\n'],
  ['an extension without a size', ';a\r\n0\r\n\r\n'],
  ['a size that is no number', 'zz\r\n'],
  ['a size with a prefix', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['a size with a sign', '-5\r\nhello\r\n0\r\n\r\n'],
  ['a blank before the size', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['a blank after the size', '5 \r\nhello\r\n0\r\n\r\n'],
  ['a size that no number holds', '20000000000000\r\nhello'],
  ['a size of endless digits', `${'f'.repeat(64)}\r\nhello`],
  ['a bare LF after the size', '5\nhello\r\n0\r\n\r\n'],
  ['a bare CR after the size', '5\rhello\r\n0\r\n\r\n'],
  ['a chunk that is longer than its size', '4\r\nhello\r\n0\r\n\r\n'],
  ['a chunk that is shorter than its size', '6\r\nhello\r\n0\r\n\r\n'],
  ['a bare LF after a chunk', '5\r\nhello\n0\r\n\r\n'],
  ['an empty extension', '5;\r\nhello\r\n0\r\n\r\n'],
  ['a blank in an extension', '5; a\r\nhello\r\n0\r\n\r\n'],
  ['an extension with half a quotation', '5;a="b\r\nhello\r\n0\r\n\r\n'],
  ['a bare LF in an extension', '5;a\nhello\r\n0\r\n\r\n'],
  ['an endless extension', `5;${'a'.repeat(20_000)}`],
  ['a trailer without a colon', '0\r\nx\r\n\r\n'],
  ['a trailer with a length', '0\r\ncontent-length: 5\r\n\r\n'],
  ['a trailer with an encoding', '0\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['a bare LF after the trailers', '0\r\nx: y\r\n\n'],
  ['endless trailers', `0\r\nx: ${'a'.repeat(70_000)}`],
];

describe('a response is refused for', () => {
  const refused = (answer: string): void => {
    expect(whole(answer).end).toBe('HTTP1_RESPONSE_INVALID');
    expect(byteByByte(answer).end).toBe('HTTP1_RESPONSE_INVALID');
  };

  it.each(LINE_PROBLEMS)('%s', (_, answer) => refused(answer));
  it.each(FIELD_PROBLEMS)('%s', (_, fields) => refused(`${OK}${fields}\r\n\r\nok`));
  it.each(CHUNK_PROBLEMS)('%s', (_, body) => refused(`${CHUNKED}${body}`));

  it('a head above 64 KiB, whether its end comes or not', () => {
    const long = 'x'.repeat(1_000);
    const fields = `a: ${long}\r\n`.repeat(66);
    for (const answer of [`${OK}${fields}`, `${OK}${fields}\r\n`, `${OK}a: ${long.repeat(66)}`])
      for (const pieces of [[bytes(answer)], cut(new Dice(3), answer)])
        expect(heardOf(pieces)).toEqual({ head: null, body: '', end: 'HTTP1_RESPONSE_INVALID' });
  });

  it('interim responses without an end', () => {
    expect(whole('HTTP/1.1 102 Processing\r\n\r\n'.repeat(3_000)).end).toBe('HTTP1_RESPONSE_INVALID');
  });

  it('a length on 204, and a body that is cut though the end was announced', () => {
    refused('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n12345');
    refused(`${OK}connection: close\r\ncontent-length: 5\r\n\r\n123`);
  });
});

describe('a reader that pauses', () => {
  /** Accepts one chunk at a time. */
  function slowly() {
    const heard: string[] = [];
    const parser = new ResponseParser({
      onHead: ({ status }) => heard.push(String(status)) < 0,
      onBody: (piece) => heard.push(piece.toString()) < 0,
      onEnd: (isReusable) => heard.push(isReusable ? 'reusable' : 'not reusable'),
    });
    parser.begin(false);
    return { heard, parser };
  }

  it('gets one piece for each read, in their order, and the end after the last', () => {
    const { heard, parser } = slowly();
    parser.push(bytes(`${CHUNKED}1\r\na\r\n1\r\nb\r\n`));
    expect(heard).toEqual(['200']);
    parser.resume();
    expect(heard).toEqual(['200', 'a']);
    parser.push(bytes('1\r\nc\r\n0\r\n\r\n'));
    parser.resume();
    parser.resume();
    expect(heard).toEqual(['200', 'a', 'b', 'c']);
    parser.resume();
    parser.resume();
    expect(heard).toEqual(['200', 'a', 'b', 'c', 'reusable']);
  });

  it('loses nothing when the other side closes meanwhile', () => {
    const { heard, parser } = slowly();
    parser.push(bytes(`${OK}\r\nrest`));
    parser.finish();
    expect(heard).toEqual(['200']);
    parser.resume();
    parser.resume();
    expect(heard).toEqual(['200', 'rest', 'not reusable']);
  });

  it('takes the end, but not the connection, of a response behind which the other side closed', () => {
    const { heard, parser } = slowly();
    parser.push(bytes(`${OK}content-length: 4\r\n\r\nrest`));
    parser.resume();
    parser.finish();
    parser.resume();
    expect(heard).toEqual(['200', 'rest', 'not reusable']);
  });

  it('learns of a cut when it has read what came before', () => {
    const { heard, parser } = slowly();
    parser.push(bytes(`${OK}content-length: 9\r\n\r\nrest`));
    parser.finish();
    parser.resume();
    expect(heard).toEqual(['200', 'rest']);
    expect(() => parser.resume()).toThrow('the connection was closed');
  });

  it('receives nothing more once the response was stopped', () => {
    const { heard, parser } = slowly();
    parser.push(bytes(`${OK}content-length: 4\r\n\r\nrest`));
    parser.stop();
    parser.resume();
    expect(heard).toEqual(['200']);
  });
});
