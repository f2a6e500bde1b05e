import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { aPool } from '../../../test/support/http1.js';
import { Egress } from '../../egress/egress.js';
import { parseEgressAllow } from '../../common/net/egress-allow.js';
import { Origin } from '../../egress/origin.js';
import { readBeforeDestroy } from '../../egress/read-before-destroy.js';
import { UndiciPool } from '../../egress/undici-pool.js';
import { AppError } from '../../common/errors/app-error.js';
import { Attempt, type AttemptLimits } from './attempt.js';
import { type Wire, type WireRequest, wireOf } from './wire.js';
import type { PassingBody } from '../types/content.js';

const LIMITS: AttemptLimits = {
  connectMs: 1_000,
  firstByteMs: 5_000,
  idleMs: 5_000,
  totalMs: 10_000,
  setByCaller: false,
};
const ROUNDS = 15;
const BODY_BYTES = 8 * 1024 * 1024;
const REFUSAL = '{"error":{"message":"no"}}';

const CERTIFICATE = readFileSync(
  new URL('../../../test/fixtures/tls/self-signed.cert.pem', import.meta.url),
  'utf8',
);
const KEY = readFileSync(new URL('../../../test/fixtures/tls/self-signed.key.pem', import.meta.url), 'utf8');

/**
 * A provider with an event loop of its own, so that it closes while the gateway writes: it responds after the first bytes and closes its
 * connection while the rest is still being sent.
 */
const PROVIDER = `
const { parentPort, workerData } = require('node:worker_threads');
const { key, cert, answer, closing } = workerData;
const close = {
  'at once': (socket) => socket.write(answer, () => socket.destroy()),
  politely: (socket) => socket.end(answer, () => socket.destroy()),
  silently: (socket) => socket.destroy(),
  'a moment later': (socket) => socket.write(answer, () => setTimeout(() => socket.destroy(), 5)),
}[closing];
const onSocket = (socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => { socket.pause(); close(socket); });
};
const server = key ? require('node:tls').createServer({ key, cert }, onSocket) : require('node:net').createServer(onSocket);
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

const toClose: (() => unknown)[] = [];
afterEach(() => Promise.all(toClose.splice(0).map((close) => close())));

interface RefusingProvider {
  readonly status: number;
  readonly closing: (typeof CLOSINGS)[number] | 'silently';
  readonly isSecure?: boolean;
}

async function portOf({ status, closing, isSecure = false }: RefusingProvider): Promise<number> {
  const answer = `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${REFUSAL.length}\r\nconnection: close\r\n\r\n${REFUSAL}`;
  const tls = isSecure ? { key: KEY, cert: CERTIFICATE } : {};
  const worker = new Worker(PROVIDER, { eval: true, workerData: { answer, closing, ...tls } });
  toClose.push(() => worker.terminate());
  return new Promise((resolve) => worker.once('message', resolve));
}

function anEgress(): Egress {
  const egress = new Egress({ allow: parseEgressAllow('127.0.0.1:*').rules, timeouts: LIMITS });
  toClose.push(() => egress.close());
  return egress;
}

async function aProvider(provider: RefusingProvider): Promise<Wire> {
  const origin = `http://127.0.0.1:${await portOf(provider)}`;
  return wireOf(anEgress().origin('tenant', origin), origin);
}

const CHUNK = Buffer.alloc(64 * 1024, 'x');
/** A streaming body, as fast as it is taken, or slowly. */
const passing = (size: number | null, pauseMs = 0): PassingBody => ({
  size,
  async *[Symbol.asyncIterator]() {
    for (let sent = 0; sent < BODY_BYTES; sent += CHUNK.length) {
      if (pauseMs) await delay(pauseMs);
      yield CHUNK;
    }
  },
});

/** The same over TLS, with a certificate that only this socket trusts. */
async function aSecureProvider(provider: RefusingProvider): Promise<Wire> {
  const port = await portOf({ ...provider, isSecure: true });
  const egress = anEgress();
  const connect = (connected: (...answer: [Error, null] | [null, Socket]) => void): void => {
    egress.openSocket({ host: '127.0.0.1', port, secure: true }, CERTIFICATE).then(
      (socket) => {
        readBeforeDestroy(socket);
        connected(null, socket);
      },
      (error: unknown) => connected(error as Error, null),
    );
  };
  const origin = `https://127.0.0.1:${port}`;
  const undici = (): Pool =>
    new UndiciPool(origin, { connect: (_options, callback) => connect((...answer) => callback(...answer)) });
  const pools = new Origin(aPool(port, { connect }), undici);
  toClose.push(() => pools.destroy());
  return wireOf(pools, origin);
}

async function answerTo(wire: Wire, body: WireRequest['body'], headers: string[]) {
  try {
    const reply = await new Attempt(LIMITS).send(wire, { method: 'POST', path: '/', headers, body }).reply;
    return await new Promise<unknown>((resolve) => {
      let text = '';
      reply.attach({
        onChunk: (chunk) => (text += chunk.toString()) !== '',
        onEnd: () => resolve([reply.status, text]),
        onFail: (error) => resolve([reply.status, error.message]),
      });
    });
  } catch (error) {
    return error instanceof AppError ? `${error.code}: ${String(error.cause)}` : error;
  }
}

const BODIES: readonly (readonly [string, () => WireRequest['body'], string[]])[] = [
  ['that is whole', () => Buffer.alloc(BODY_BYTES, 'x'), []],
  ['on its way, of known length', () => passing(BODY_BYTES), ['content-length', String(BODY_BYTES)]],
  ['on its way, in chunks', () => passing(null), []],
  ['on its way, slowly', () => passing(null, 1), []],
];

const CLOSINGS = ['at once', 'politely', 'a moment later'] as const;
const STATUSES = [413, 429, 401];

describe.each(BODIES)('an upload %s', (_body, body, headers) => {
  it.each(CLOSINGS.flatMap((closing) => STATUSES.map((status) => [status, closing] as const)))(
    'returns the early %i of a provider that closes %s',
    async (status, closing) => {
      const wire = await aProvider({ status, closing });
      const answers = [];
      for (let round = 0; round < ROUNDS; round++) answers.push(await answerTo(wire, body(), headers));

      expect(answers).toEqual(Array.from({ length: ROUNDS }, () => [status, REFUSAL]));
    },
  );

  it('works over TLS, too', async () => {
    const wire = await aSecureProvider({ status: 413, closing: 'politely' });
    const answers = [];
    for (let round = 0; round < ROUNDS; round++) answers.push(await answerTo(wire, body(), headers));

    expect(answers).toEqual(Array.from({ length: ROUNDS }, () => [413, REFUSAL]));
  });

  it('fails at once when the provider closes without a response', async () => {
    const wire = await aProvider({ status: 0, closing: 'silently' });
    const startedAt = performance.now();

    expect(await answerTo(wire, body(), headers)).toMatch(/^upstream_error: /);
    expect(performance.now() - startedAt).toBeLessThan(LIMITS.firstByteMs / 2);
  });
});
