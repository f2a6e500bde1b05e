import { afterEach, describe, expect, it } from 'vitest';
import { aPool, RawUpstream } from '../../../test/support/http1.js';
import { Origin } from '../../egress/origin.js';
import { UndiciPool } from '../../egress/undici-pool.js';
import { AppError } from '../../common/errors/app-error.js';
import { Attempt, type AttemptLimits } from './attempt.js';
import { type WireRequest, wireOf } from './wire.js';
import type { PassingBody } from '../types/content.js';

const LIMITS: AttemptLimits = {
  connectMs: 1_000,
  firstByteMs: 60_000,
  idleMs: 60_000,
  totalMs: 60_000,
  setByCaller: false,
};
const HEAD = 'HTTP/1.1 200 Fine\r\nx-odd: \xe9\r\ncontent-length: 2\r\n\r\n';

const toClose: (() => void)[] = [];
afterEach(() => toClose.splice(0).forEach((close) => close()));

interface WireCounts {
  undici: number;
  /** Our own client may be used. */
  readonly hasOwn?: boolean;
}

async function aProvider(made: WireCounts) {
  const upstream = await new RawUpstream((socket) =>
    socket.write(`HTTP/1.1 103 Early\r\n\r\n${HEAD}ok`, 'latin1'),
  ).listen();
  const own = made.hasOwn === false ? null : aPool(upstream.port);
  const origin = new Origin(own, () => {
    made.undici += 1;
    return new UndiciPool(upstream.origin);
  });
  toClose.push(() => {
    void origin.destroy();
    upstream.close();
  });
  return { upstream, wire: wireOf(origin, upstream.origin) };
}

const passing = (...pieces: readonly Buffer[]): PassingBody => ({
  size: null,
  async *[Symbol.asyncIterator]() {
    yield* pieces;
  },
});

/** The events of one attempt, or its error. */
async function heard(wishes: Partial<WireRequest>, made: WireCounts = { undici: 0 }): Promise<unknown> {
  const { wire } = await aProvider(made);
  const request: WireRequest = { method: 'POST', path: '/', headers: [], body: null, ...wishes };
  try {
    const reply = await new Attempt(LIMITS).send(wire, request).reply;
    return await new Promise((resolve) => {
      let text = '';
      reply.attach({
        onChunk: (chunk) => (text += chunk.toString()) !== '',
        onEnd: () => resolve([reply.status, reply.statusText, reply.rawHeaders, text]),
        onFail: resolve,
      });
    });
  } catch (error) {
    return error instanceof AppError ? [error.code, error.message] : error;
  }
}

const BODIES = [
  ['none', null, 0],
  ['known bytes', Buffer.from('x'), 0],
  ['bytes on their way', passing(Buffer.from('x')), 1],
] as const;

describe('a request with a body of', () => {
  it.each(BODIES)('%s gets the same response', async (_, body, byUndici) => {
    const made = { undici: 0 };

    expect(await heard({ body }, made)).toEqual([
      200,
      'Fine',
      ['x-odd', '\xe9', 'content-length', '2'],
      'ok',
    ]);
    expect(made.undici).toBe(byUndici);
  });

  it.each(BODIES)('%s gets the same response when the setting selects undici', async (_, body) => {
    const made = { undici: 0, hasOwn: false };

    expect(await heard({ body }, made)).toEqual([
      200,
      'Fine',
      ['x-odd', '\xe9', 'content-length', '2'],
      'ok',
    ]);
    expect(made.undici).toBe(1);
  });

  it.each(BODIES)('%s is refused alike for a header that cannot be sent', async (_, body) => {
    for (const [name, value] of [
      ['x', 'a\r\nb'],
      ['transfer-encoding', 'chunked'],
      ['upgrade', 'x'],
    ] as const)
      expect(await heard({ body, headers: [name, value] })).toEqual([
        'header_invalid',
        new AppError('header_invalid', { header: name, detail: 'it cannot be sent on' }).message,
      ]);
    for (const wishes of [{ headers: ['a b', 'c'] }, { path: '/a b' }])
      expect(await heard({ body, ...wishes })).toEqual([
        'header_invalid',
        new AppError('header_invalid', { header: 'of the request', detail: 'it cannot be sent on' }).message,
      ]);
  });
});
