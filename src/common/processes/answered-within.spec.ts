import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { answeredWithin } from './answered-within.js';

describe('answeredWithin', () => {
  it('passes on the response and the failure unchanged', async () => {
    await expect(answeredWithin(Promise.resolve(7), 1_000, 'late')).resolves.toBe(7);
    await expect(answeredWithin(Promise.reject(new Error('no')), 1_000, 'late')).rejects.toThrow('no');
  });

  it('rejects when no response comes', async () => {
    await expect(answeredWithin(new Promise(() => undefined), 5, 'Nobody answered.')).rejects.toThrow(
      'Nobody answered.',
    );
  });

  it('accepts a response that waited in its socket while this process was blocked', async () => {
    const echo = new Worker(ECHO, { eval: true });
    const [port] = (await once(echo, 'message')) as [number];
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');

    const waited = answeredWithin(once(socket, 'data'), 10, 'late');
    await new Promise<void>((written) => socket.write('there', () => written()));
    const until = performance.now() + 300;
    while (performance.now() < until);

    expect(String(await waited)).toBe('there');
    socket.destroy();
    await echo.terminate();
  });
});

/** In a separate thread, so that it responds while the main thread is blocked. */
const ECHO = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => socket.pipe(socket));
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
