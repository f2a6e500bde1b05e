import type { Socket } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aPool,
  aRequest,
  mutated,
  RawUpstream,
  Recorder,
  VALID_ANSWERS,
} from '../../../test/support/http1.js';
import { Dice } from '../../../test/support/random-bodies.js';
import { upstreamFailure } from '../upstream-failure.js';
import type { ConnectionPool } from './connection-pool.js';
import type { HttpRequest } from './request-head.js';

/** Where our client is deliberately stricter: by the text of its error, and a pattern that the response must match. */
const STRICTER: readonly (readonly [refusal: RegExp, answer: RegExp])[] = [
  // llhttp skips empty lines before a response; https://www.rfc-editor.org/rfc/rfc9112#section-2.2 requires that of servers only.
  [/no status line|does not begin with an HTTP version|bare/, /(^|\r\n\r\n)[\r\n]/],
  // llhttp accepts 0.9 and 2.0 as well.
  [/version is not one of HTTP\/1/, /HTTP\/(0\.9|2\.0) /],
  // llhttp accepts any character but CR and LF in a reason, and a second CR instead of LF after it.
  [/control character|bare CR/, /HTTP\/1\.[01] \d{3}([^\n]*\r\r| [^\r\n]*[^\t\x20-\x7e\x80-\xff\r\n])/],
  // undici reads up to the close, or decodes chunks but not their content.
  [/transfer-encoding is not supported/, /transfer-encoding/i],
  // undici ignores 101 without an upgrade.
  [/status 101 was not asked for/, /HTTP\/1\.[01] 101/],
  // llhttp accepts chunk extensions without a name or value, and invalid quoting.
  [/chunk extension is not valid/, /\n[0-9a-f]+;/i],
];

/**
 * Where it is less strict: a 304 may announce the length of the omitted body, https://www.rfc-editor.org/rfc/rfc9110#section-8.6, and a
 * client must be able to read a 100 that it did not expect, https://www.rfc-editor.org/rfc/rfc9110#section-15.2
 */
const LAXER = /HTTP\/1\.[01] 304[^]*content-length|HTTP\/1\.[01] 100/i;

/** Mutated responses. `npm run test:http` tries a hundred thousand. */
const MUTATIONS = Number(process.env['HTTP_MUTATIONS'] ?? 5_000);

let upstream: RawUpstream;
let undici: Pool;
let own: ConnectionPool;
let answers: readonly string[] = [];
const requests: string[] = [];

/** The path selects the response; it is sent in two pieces, and the connection ends with it. */
function play(socket: Socket, request: string): void {
  requests.push(request);
  const answer = Buffer.from(answers[Number(/^\w+ \/(\d+)/.exec(request)?.[1])] ?? '', 'latin1');
  const middle = Math.floor(answer.length / 2);
  socket.write(answer.subarray(0, middle));
  setImmediate(() => socket.end(answer.subarray(middle)));
}

beforeAll(async () => {
  upstream = await new RawUpstream(play).listen();
  undici = new Pool(upstream.origin, {
    connections: 64,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
  });
  own = aPool(upstream.port);
});
afterAll(async () => {
  own.destroy();
  await undici.destroy();
  upstream.close();
});

const byOwn = (request: HttpRequest): Promise<Recorder> => {
  const recorder = new Recorder();
  own.dispatch(request, recorder);
  return recorder.ended;
};

/** undici delivers headers as bytes, and interim responses. */
class DispatchHandlerAdapter implements Dispatcher.DispatchHandler {
  constructor(private readonly recorder: Recorder) {}

  onConnect(abort: (reason?: Error) => void): void {
    this.recorder.onConnect(abort);
  }

  onHeaders(status: number, raw: readonly Buffer[], resume: () => void, reason: string): boolean {
    const headers = raw.map((bytes) => bytes.toString('latin1'));
    return status < 200 || this.recorder.onHeaders(status, headers, resume, reason);
  }

  onData(chunk: Buffer): boolean {
    return this.recorder.onData(chunk);
  }

  onComplete(): void {
    this.recorder.onComplete();
  }

  onError(error: Error): void {
    this.recorder.onError(error);
  }
}

const byUndici = ({ method, path, headers, body }: HttpRequest): Promise<Recorder> => {
  const recorder = new Recorder();
  undici.dispatch(
    { origin: upstream.origin, method, path, headers: [...headers], body },
    new DispatchHandlerAdapter(recorder),
  );
  return recorder.ended;
};

function outcomeOf({ status, headers, text, ending }: Recorder): unknown {
  return ending === 'complete' ? { status, headers, text } : 'error';
}

function isWanted(answer: string, ours: Recorder, theirs: Recorder): boolean {
  if (ours.ending === 'complete') return theirs.ending !== 'complete' && LAXER.test(answer);
  const words = ours.ending?.message ?? '';
  return STRICTER.some(([refusal, told]) => refusal.test(words) && told.test(answer));
}

/** Sends each response to both clients, and returns those handled differently without a listed reason. */
async function differences(method: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const workers = Array.from({ length: 16 }, async (_, first) => {
    for (let index = first; index < answers.length; index += 16) {
      const answer = answers[index] as string;
      const request = aRequest({ method, path: `/${index}` });
      const [ours, theirs] = await Promise.all([byOwn(request), byUndici(request)]);
      const [mine, other] = [outcomeOf(ours), outcomeOf(theirs)];
      if (JSON.stringify(mine) === JSON.stringify(other) || isWanted(answer, ours, theirs)) continue;
      found.push({ answer, mine, other, why: [String(ours.ending), String(theirs.ending)] });
    }
  });
  await Promise.all(workers);
  return found;
}

describe('our client and undici', () => {
  it.each(['GET', 'HEAD'])('parse valid responses to %s alike', async (method) => {
    answers = VALID_ANSWERS;
    expect(await differences(method)).toEqual([]);
  });

  it.each([11, 12, 13, 14, 15])(
    'parse broken responses alike, except where ours is stricter (seed %i)',
    async (seed) => {
      const dice = new Dice(seed);
      answers = Array.from({ length: MUTATIONS / 5 }, () => mutated(dice, dice.pick(VALID_ANSWERS)));
      expect(await differences('GET')).toEqual([]);
    },
  );

  it.each([
    ['cut inside a length', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello'],
    [
      'cut inside a length, though the end was announced',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nhello',
    ],
    ['cut inside chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel'],
    [
      'cut inside chunks, though the end was announced',
      'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel',
    ],
    ['cut inside the head', 'HTTP/1.1 200 OK\r\ncontent-le'],
    ['nothing', ''],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'],
    ['a status below 100', 'HTTP/1.1 099 OK\r\ncontent-length: 2\r\n\r\nhi'],
    ['an upgrade', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  ])('report the same refusal of %s', async (_, answer) => {
    answers = [answer];
    const [ours, theirs] = await Promise.all([
      byOwn(aRequest({ path: '/0' })),
      byUndici(aRequest({ path: '/0' })),
    ]);
    const [mine, other] = [upstreamFailure(ours.ending), upstreamFailure(theirs.ending)];
    expect([mine.code, mine.message]).toEqual([other.code, other.message]);
  });
});

describe('a request', () => {
  const body = Buffer.from('{"a":"\xc3\xa9"}', 'latin1');
  const headers = [
    'Content-Type',
    'application/json',
    'X-Spelling',
    'a\tb  \xe9',
    'x-empty',
    '',
    'accept',
    '*/*',
    'Accept',
    'b',
  ];

  it.each<[string, Partial<HttpRequest>]>([
    ['with a body', { method: 'POST', headers, body }],
    ['with a long body', { method: 'POST', headers, body: Buffer.alloc(100_000, 'x') }],
    ['whose body is empty', { method: 'POST', headers, body: Buffer.alloc(0) }],
    ['POST without a body', { method: 'POST', headers }],
    ['PUT without a body', { method: 'PUT' }],
    ['PATCH without a body', { method: 'PATCH' }],
    ['DELETE without a body', { method: 'DELETE', headers }],
    ['DELETE with a body', { method: 'DELETE', headers, body }],
    ['GET', { headers }],
    ['GET with a body', { headers, body }],
    ['HEAD', { method: 'HEAD', headers }],
    ['of a method of its own', { method: 'PURGE', headers }],
    ['with a host of its own', { headers: ['Host', 'example.com', ...headers] }],
    [
      'with its length',
      { method: 'POST', headers: ['content-length', String(body.length), ...headers], body },
    ],
    ['with a length and no body', { method: 'POST', headers: ['content-length', '7', ...headers] }],
    ['that wants the connection closed', { headers: ['Connection', 'x, Close', ...headers] }],
    ['that wants it kept', { headers: ['connection', 'keep-alive', ...headers] }],
  ])('%s has the same bytes', async (_, wishes) => {
    answers = ['HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'];
    const request = aRequest({ path: '/0?q=%20', ...wishes });
    requests.length = 0;
    upstream.received.length = 0;
    upstream.sockets.length = 0;
    await byOwn(request);
    await byUndici(request);
    expect(upstream.received).toHaveLength(2);
    expect(upstream.received[0]).toBe(upstream.received[1]);
    expect(upstream.received[0]).toContain('/0?q=%20 HTTP/1.1\r\n');
  });
});
