import { brotliCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Canaries } from './canaries.js';
import { HttpClient, jsonOf, sha256 } from './http-client.js';
import { Dice, oddPieces, randomBody } from './random-bodies.js';
import { parseAnswers, rawExchange } from './raw-client.js';
import { CanaryListener } from './upstreams/canary-listener.js';
import { EchoUpstream } from './upstreams/echo.js';
import { MisbehavingUpstream, ODD_STREAM } from './upstreams/misbehaving.js';
import { eventually, inParallel, sleep } from './waiting.js';

/** The tools of the end-to-end tests, tried on each other: a tool that lies would make every test true. */
const open: { stop(): Promise<void> }[] = [];
const keep = <T extends { stop(): Promise<void> }>(tool: T): T => {
  open.push(tool);
  return tool;
};

afterEach(async () => {
  for (const tool of open.splice(0)) await tool.stop();
});

describe('the echo upstream and the client', () => {
  it('see the same bytes, headers and target, whatever is sent', async () => {
    const upstream = keep(await EchoUpstream.start());
    const client = new HttpClient(upstream.url);
    await inParallel(Array.from({ length: 60 }), 8, async (_, index) => {
      const dice = new Dice(index);
      const [sent, planned] = [randomBody(dice), randomBody(dice)];
      upstream.on(`/${index}`, {
        status: 418,
        headers: [...planned.headers, ['set-cookie', 'a'], ['set-cookie', 'b']],
        body: oddPieces(dice, planned.bytes),
      });
      const answer = await client.call({
        method: 'PUT',
        path: `/${index}?a=%2f..&a`,
        body: oddPieces(dice, sent.bytes),
        headers: { 'X-Mixed': 'a  b' },
      });
      const received = await upstream.only(`/${index}`);
      expect(received.sha256).toBe(sha256(sent.bytes));
      expect(received.target).toBe(`/${index}?a=%2f..&a`);
      expect(received.headers).toContainEqual(['X-Mixed', 'a  b']);
      expect(answer.sha256).toBe(sha256(planned.bytes));
      expect([answer.status, answer.rawHeaders.filter(([name]) => name === 'set-cookie').length]).toEqual([
        418, 2,
      ]);
    });
    client.close();
  });

  it('do not unpack what is packed', async () => {
    const upstream = keep(await EchoUpstream.start());
    const client = new HttpClient(upstream.url);
    const packed = brotliCompressSync('text');
    upstream.on('/x', { headers: [['content-encoding', 'br']], body: packed });
    expect((await client.call({ path: '/x' })).body.equals(packed)).toBe(true);
    client.close();
  });

  it('notice a call that is given up', async () => {
    const upstream = keep(await EchoUpstream.start());
    const client = new HttpClient(upstream.url);
    upstream.on('/x', {
      body: (response) =>
        new Promise((resolve) => void (response.write('a'), response.once('close', resolve))),
    });
    const answer = await client.open({ path: '/x' });
    answer.stream.on('error', () => undefined);
    answer.request.destroy();
    await expect.poll(() => upstream.ledger[0]?.cancelledAt).toBeTypeOf('number');
    client.close();
  });
});

describe('the raw client', () => {
  it('distinguishes responses, whole or not, and how the connection ended', async () => {
    const raw = keep(await MisbehavingUpstream.start());
    const ask = (name: string, answers?: number) =>
      rawExchange(
        raw.url,
        `GET /${name} HTTP/1.1\r\nhost: x\r\n\r\n`,
        answers === undefined ? {} : { answers },
      );
    expect(await ask('fine', 1)).toMatchObject({ answers: [{ status: 200, whole: true }], ended: 'open' });
    expect(await ask('short-body')).toMatchObject({
      answers: [{ status: 200, whole: false }],
      ended: 'closed',
    });
    expect(await ask('unsolicited', 2)).toMatchObject({ answers: [{ status: 200 }, { status: 200 }] });
    expect((await ask('reset-mid-stream')).ended).toBe('reset');
    const silence = await rawExchange(raw.url, 'GET /never HTTP/1.1\r\nhost: x\r\n\r\n', { waitMs: 300 });
    expect(silence).toMatchObject({ answers: [], ended: 'open' });
    expect((await ask('early-hints', 1)).answers.map(({ status }) => status)).toEqual([103, 200]);
    expect((await ask('odd-stream', 1)).answers[0]?.body.equals(ODD_STREAM)).toBe(true);
    expect(raw.calls.map(({ behaviour }) => behaviour)).toContain('never');
  });

  it('reads chunked responses and what follows them', () => {
    const bytes =
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nHTTP/1.1 404 No\r\ncontent-length: 1\r\n\r\nx';
    expect(
      parseAnswers(Buffer.from(bytes)).map(({ status, body, whole }) => [status, body.toString(), whole]),
    ).toEqual([
      [200, 'abc', true],
      [404, 'x', true],
    ]);
  });
});

describe('waiting', () => {
  it('fails only after a try that began after the deadline', async () => {
    let tries = 0;
    const slowAtFirst = async (): Promise<boolean> => {
      if (++tries === 1) await sleep(30);
      return tries === 2;
    };
    await expect(eventually(slowAtFirst, { withinMs: 10, what: 'the second try' })).resolves.toBe(true);
    await expect(eventually(() => false, { withinMs: 5, everyMs: 1, what: 'nothing' })).rejects.toThrow(
      'in vain for nothing',
    );
  });
});

describe('canaries', () => {
  it.each([
    ['raw', (secret: string) => secret],
    ['hexadecimal', (secret: string) => Buffer.from(secret).toString('hex')],
    ['base64', (secret: string) => Buffer.from(secret).toString('base64')],
    ['base64 within more', (secret: string) => Buffer.from(`Bearer ${secret} and more`).toString('base64')],
    ['base64url within more', (secret: string) => Buffer.from(`x${secret}y`).toString('base64url')],
    ['URL', (secret: string) => encodeURIComponent(secret)],
    ['JSON', (secret: string) => JSON.stringify(secret).replaceAll('/', '\\/')],
    ['its head', (secret: string) => secret.slice(0, 20)],
  ])('are found as %s', (_, encode) => {
    const canaries = new Canaries();
    const secret = canaries.make('x');
    const bytes = Buffer.concat([Buffer.from([0, 255]), Buffer.from(encode(secret)), Buffer.from([0])]);
    expect(canaries.scan([{ name: 'sink', bytes }])).not.toEqual([]);
  });

  it('are not found where they are not', () => {
    const canaries = new Canaries();
    canaries.make('x');
    const other = new Canaries().make('x');
    expect(canaries.scan([{ name: 'sink', bytes: Buffer.from(`${other} sk-*** sk-canary`) }])).toEqual([]);
  });

  it('the listener counts who comes', async () => {
    const listener = keep(await CanaryListener.start());
    const client = new HttpClient(`http://127.0.0.1:${listener.port}`);
    expect((await client.call({ path: '/' })).body.toString()).toBe('CANARY');
    expect(listener.hits).toBe(1);
    client.close();
  });

  it('the client sends JSON as JSON', async () => {
    const upstream = keep(await EchoUpstream.start());
    const client = new HttpClient(upstream.url);
    const answer = await client.call({ method: 'POST', path: '/x', body: { a: 1 } });
    expect(jsonOf(answer)).toMatchObject({ bytes: 7 });
    expect(upstream.ledger[0]?.headers).toContainEqual(['content-type', 'application/json']);
    client.close();
  });
});
