import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRequestHead } from './request-head.js';

const head = (...lines: readonly string[]): Buffer =>
  Buffer.from(['POST /v1/chat/completions HTTP/1.1', ...lines, '', ''].join('\r\n'), 'latin1');

const HOST = 'Host: gateway';
const LENGTH = 'Content-Length: 2';

describe('the head of a request that is written plainly', () => {
  it('is read with its fields as they were written, and by their names', () => {
    const bytes = head(HOST, 'X-Gateway-API-Key:   gw_ws_key', LENGTH, 'x-empty:', 'X-Text: caf\u00e9');

    expect(readRequestHead(Buffer.concat([bytes, Buffer.from('{}')]))).toEqual({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: {
        host: 'gateway',
        'x-gateway-api-key': 'gw_ws_key',
        'content-length': '2',
        'x-empty': '',
        'x-text': 'caf\u00e9',
      },
      rawHeaders: [
        ...['Host', 'gateway', 'X-Gateway-API-Key', 'gw_ws_key', 'Content-Length', '2'],
        ...['x-empty', '', 'X-Text', 'caf\u00e9'],
      ],
      bodyAt: bytes.length,
      bodyBytes: 2,
    });
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['DELETE', 'content-length: 2\r\n'],
    ['PUT', 'content-length: 2\r\n'],
    ['PATCH', 'content-length: 2\r\n'],
  ])('may be of a method that has a body or none: %s %s', (method, length) => {
    const read = readRequestHead(Buffer.from(`${method} /v1/files HTTP/1.1\r\nhost: x\r\n${length}\r\n`));

    expect(read).toMatchObject({ method, url: '/v1/files', bodyBytes: length === '' ? 0 : 2 });
  });

  it('is incomplete until its last byte', () => {
    const bytes = head(HOST, LENGTH);
    for (let end = 0; end < bytes.length; end++)
      expect(readRequestHead(bytes.subarray(0, end))).toBe('incomplete');
  });
});

describe('left to the server of Node is', () => {
  const cases: Readonly<Record<string, Buffer>> = {
    'a GET with a length': Buffer.from('GET /v1/models HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    HEAD: Buffer.from('HEAD /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'),
    'an unknown method': Buffer.from('GETS /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'),
    'a method in lower case': Buffer.from('get /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'),
    'no target': Buffer.from('GET HTTP/1.1\r\nhost: x\r\n\r\n'),
    'another version': Buffer.from('POST /v1/x HTTP/1.0\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    'no version': Buffer.from('POST /v1/x\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    'a target with a blank': Buffer.from('POST /v1/x y HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    'a target with a fragment': Buffer.from('POST /v1/x#y HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    'a whole address': Buffer.from('POST http://x/v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    'a target beyond ASCII': Buffer.from('POST /v1/\u00e9 HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'),
    'no field at all': Buffer.from('POST /v1/x HTTP/1.1\r\n\r\n'),
    'line ends of one byte': Buffer.from('POST /v1/x HTTP/1.1\nhost: x\ncontent-length: 0\n\r\n\r\n'),
    'no host': head(LENGTH),
    'no length': head(HOST),
    'a body in chunks': head(HOST, 'transfer-encoding: chunked'),
    'a length and chunks': head(HOST, LENGTH, 'transfer-encoding: chunked'),
    'two lengths': head(HOST, LENGTH, 'content-length: 3'),
    'the same length twice': head(HOST, LENGTH, LENGTH),
    'a list of lengths': head(HOST, 'content-length: 2, 2'),
    'a length with a sign': head(HOST, 'content-length: +2'),
    'a length that begins with zeros': head(HOST, 'content-length: 002'),
    'a length of ten megabytes and more': head(HOST, 'content-length: 10000000'),
    'a length in hexadecimal': head(HOST, 'content-length: 0x2'),
    'a connection that closes': head(HOST, LENGTH, 'connection: close'),
    'fields that are named as of the connection': head(HOST, LENGTH, 'connection: keep-alive, x-a'),
    'an upgrade': head(HOST, LENGTH, 'upgrade: h2c'),
    'an expectation': head(HOST, LENGTH, 'expect: 100-continue'),
    'any name that stands twice': head(HOST, LENGTH, 'x-a: 1', 'X-A: 2'),
    'a folded line': head(HOST, LENGTH, 'x-a: 1', ' 2'),
    'a blank before the colon': head(HOST, LENGTH, 'x-a : 1'),
    'no name': head(HOST, LENGTH, ': 1'),
    'a blank behind a value': head(HOST, 'content-length: 2 '),
    'a tab behind a value': head(HOST, 'content-length: 2\t'),
    'a tab before a value': head(HOST, 'content-length:\t2'),
    'no colon': head(HOST, LENGTH, 'x-a'),
    'a name beyond ASCII': head(HOST, LENGTH, 'x-\u00e9: 1'),
    'a NUL in a value': head(HOST, LENGTH, 'x-a: 1\0'),
    'a lone carriage return': head(HOST, LENGTH, 'x-a: 1\r2'),
    'a lone line feed': head(HOST, LENGTH, 'x-a: 1\n2'),
    'a prototype': head(HOST, LENGTH, '__proto__: 1'),
    'what every object has': head(HOST, LENGTH, 'constructor: 1'),
    'more fields than a hundred': head(HOST, LENGTH, ...Array.from({ length: 99 }, (_, at) => `x-${at}: 1`)),
    'more than 8 KiB': head(HOST, LENGTH, `x-a: ${'a'.repeat(8 * 1024)}`),
    'more than 8 KiB without an end': Buffer.from(`POST /v1/x HTTP/1.1\r\nx-a: ${'a'.repeat(8 * 1024)}`),
  };

  it.each(Object.keys(cases))('%s', (name) => {
    expect(readRequestHead(cases[name] as Buffer)).toBe('other');
  });

  it('what cannot become one, as soon as that is known', () => {
    expect(readRequestHead(Buffer.from('H'))).toBe('other');
    expect(readRequestHead(Buffer.from('POSTS'))).toBe('other');
    expect(readRequestHead(Buffer.from('POST h'))).toBe('other');
  });
});

/** Seeded, so that a failure can be reproduced. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // The low bits of such a generator have a short period.
    return (state >>> 8) % below;
  };
}

/** Mutated requests. `npm run test:http` tries a hundred thousand. */
const ROUNDS = Number(process.env['HTTP_MUTATIONS'] ?? 5_000);

const PIECES = [
  '\r\n',
  '\r',
  '\n',
  ' ',
  '\t',
  ':',
  '\0',
  '0',
  '1',
  ',',
  ';',
  'x',
  '\u00e9',
  '\u007f',
  '#',
  '?',
];
const LINES = [
  ...['content-length: 3', 'transfer-encoding: chunked', 'connection: close', 'x-a: b', 'host: y'],
  ...['expect: 100-continue', 'upgrade: h2c', 'cookie: a=b', 'content-type: text/plain'],
];

/** A simple head with one to four random changes. */
function changed(below: (n: number) => number): Buffer {
  const method = ['POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'GET'][below(6)] ?? '';
  const length = method === 'GET' || below(8) === 0 ? '' : `Content-Length: ${below(4)}\r\n`;
  let text = `${method} /v1/x?y HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}X-A: b c\r\n\r\n`;
  for (let times = below(4); times >= 0; times--) {
    const at = below(text.length);
    const piece = PIECES[below(PIECES.length)] ?? '';
    const line = `${LINES[below(LINES.length)] ?? ''}\r\n`;
    const ways = [
      () => text.slice(0, at) + piece + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1 + below(3)),
      () => text.slice(0, at) + piece + text.slice(at + 1),
      () => text.replace('\r\n', () => `\r\n${line}`),
    ];
    text = ways[below(ways.length)]?.() ?? text;
  }
  return Buffer.from(text, 'latin1');
}

describe('what is taken', () => {
  let server: Server;
  let heard: IncomingMessage[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      heard.push(request);
      request.resume().once('end', () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** The requests that Node's server parses from these bytes. */
  function asNodeReads(bytes: Buffer): Promise<readonly IncomingMessage[]> {
    heard = [];
    return new Promise((resolve) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.on('error', () => undefined).on('close', () => resolve(heard));
      socket.resume().end(bytes);
    });
  }

  it('is read by the server of Node as the same request, whatever was changed of it', async () => {
    const below = random(20_261_125);
    let taken = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const bytes = changed(below);
      const head = readRequestHead(bytes);
      if (typeof head === 'string') continue;
      taken++;
      const whole = Buffer.concat([bytes.subarray(0, head.bodyAt), Buffer.alloc(head.bodyBytes, 'b')]);
      const [request, ...others] = await asNodeReads(whole);
      const said = JSON.stringify(bytes.toString('latin1'));
      expect(others, said).toEqual([]);
      expect(request?.complete, said).toBe(true);
      expect([request?.method, request?.url], said).toEqual([head.method, head.url]);
      expect(request?.rawHeaders, said).toEqual(head.rawHeaders);
      expect({ ...request?.headers }, said).toEqual(head.headers);
    }
    expect(taken).toBeGreaterThan(ROUNDS / 10);
  });
});
