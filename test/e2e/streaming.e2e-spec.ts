import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../support/http-client.js';
import { EchoUpstream } from '../support/upstreams/echo.js';
import { MisbehavingUpstream, ODD_STREAM } from '../support/upstreams/misbehaving.js';
import { eventually, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

const MIB = 1024 * 1024;
const EVENTS = 25;
const EVENT_MS = 20;
/** GATEHOUSE_IDLE_TIMEOUT_MS of the shared service. */
const IDLE_MS = 3_000;
const CHAT = '/v1/chat/completions';
const BODY = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'count' }] };
const event = (content: string): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o-mini-2024-07-18',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  })}\n\n`;
const SSE = [['content-type', 'text/event-stream']] as const;

let world: World;
let raw: MisbehavingUpstream;

beforeAll(async () => {
  world = await World.create('streaming');
  raw = await MisbehavingUpstream.start(world.service.facts.egressPorts);
});
afterAll(async () => {
  await raw.stop();
  await world.close();
});

/** Lets one side go on when the other has got so far. */
class Gate {
  private passed = 0;
  pass(): void {
    this.passed++;
  }
  after(count: number): Promise<unknown> {
    return eventually(() => this.passed >= count, {
      everyMs: 1,
      what: `event ${count} to arrive`,
    });
  }
}

describe('a stream', () => {
  it('leaves piece by piece: the next event is sent only after the last one has arrived', async () => {
    const gate = new Gate();
    world.upstream.on('/base/v9/chat/completions', {
      headers: SSE,
      body: async (response) => {
        for (let i = 0; i < EVENTS; i++) {
          response.write(event(`${i} `));
          await gate.after(i + 1);
        }
        response.write('data: [DONE]\n\n');
      },
    });
    const answer = await world.open({ method: 'POST', path: CHAT, body: BODY });
    let text = '';
    let seen = 0;
    for await (const part of answer.stream) {
      text += String(part);
      for (; seen < text.split('\n\n').length - 1; seen++) gate.pass();
    }
    expect(text).toBe(`${Array.from({ length: EVENTS }, (_, i) => event(`${i} `)).join('')}data: [DONE]\n\n`);
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      streamed: true,
      ending: 'completed',
      status: 200,
    });
  });

  it('sends its head before the first event', async () => {
    const gate = new Gate();
    world.upstream.on('/base/v9/late', {
      headers: SSE,
      body: async (response) => {
        await gate.after(1);
        response.write('data: at last\n\n');
      },
    });
    const answer = await world.open({ path: '/v1/late' });
    expect(answer.status).toBe(200);
    gate.pass();
    let text = '';
    for await (const part of answer.stream) text += String(part);
    expect(text).toBe('data: at last\n\n');
  });

  it('sends a request on while it is still coming in', async () => {
    const gate = new Gate();
    const arrived: string[] = [];
    const listener = await EchoUpstream.start(world.service.facts.egressPorts);
    const answer = await world.send({
      method: 'POST',
      path: '/v1/slow-upload',
      headers: { ...world.hostHeaders(listener.url), 'content-type': 'text/plain' },
      body: (async function* () {
        yield Buffer.from('first ');
        await eventually(() => listener.ledger.length > 0, {
          what: 'the head to reach the provider',
        });
        arrived.push('head');
        gate.pass();
        yield Buffer.from('second');
      })(),
    });
    expect(answer.status).toBe(200);
    expect(arrived).toEqual(['head']);
    expect(listener.ledger[0]?.body.toString()).toBe('first second');
    await listener.stop();
  });

  it('pauses the provider while its reader pauses, and loses nothing', async () => {
    const total = 96 * MIB;
    const piece = Buffer.alloc(64 * 1024, 'abcdefghijklmnopqrstuvwxyz');
    let written = 0;
    world.upstream.on('/base/v9/fast', {
      headers: [['content-type', 'application/octet-stream']],
      body: async (response) => {
        for (; written < total && !response.destroyed; written += piece.length)
          if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
      },
    });
    const answer = await world.open({ path: '/v1/fast' });
    // All buffers on the way fill up, and then nothing moves while the reader pauses.
    const atPause = await eventually(
      async () => {
        const before = written;
        await sleep(500);
        return before > 0 && written === before && written;
      },
      { what: 'the provider to pause' },
    );
    expect(atPause).toBeLessThan(24 * MIB);
    const parts: Buffer[] = [];
    for await (const part of answer.stream) parts.push(part as Buffer);
    expect(sha256(Buffer.concat(parts))).toBe(
      sha256(Buffer.concat(Array.from({ length: total / piece.length }, () => piece))),
    );
  });
});

describe('a client that leaves', () => {
  it('in the middle of a stream ends the call to the provider soon after, and the row records it', async () => {
    let said = 0;
    world.upstream.on('/base/v9/chat/completions', {
      headers: SSE,
      body: async (response) => {
        for (; !response.destroyed; said++) {
          response.write(event(`${said} `));
          await sleep(EVENT_MS);
        }
      },
    });
    world.upstream.ledger.length = 0;
    const answer = await world.open({ method: 'POST', path: CHAT, body: BODY });
    await new Promise((resolve) => answer.stream.once('data', resolve));
    answer.request.destroy();
    const left = said;
    const [call] = world.upstream.callsTo('/base/v9/chat/completions');
    await eventually(() => call?.cancelledAt, {
      everyMs: 5,
      what: 'the call to be cancelled',
    });
    // A second of the provider's own time, which runs as slowly as the machine.
    expect(said - left).toBeLessThan(1_000 / EVENT_MS);
    const row = await world.logs.row(answer.requestId);
    expect(row).toMatchObject({
      ending: 'client_aborted',
      streamed: true,
      status: 200,
      usage_source: 'estimated',
    });
    expect(row.output_tokens, 'what was produced is counted').toBeGreaterThan(0);
  });

  it('before the response began ends the call too, and the row says 499', async () => {
    const path = '/base/v9/slow';
    world.upstream.on(path, { delayMs: 5_000 });
    const traceId = `left-early-${Date.now()}`;
    const controller = new AbortController();
    const pending = world.service.client.open({
      path: '/v1/slow',
      headers: { ...world.headers, 'x-gateway-trace-id': traceId },
      signal: controller.signal,
    });
    pending.catch(() => undefined);
    await eventually(() => world.upstream.callsTo(path).length > 0, { what: 'the call' });
    controller.abort();
    await eventually(() => world.upstream.callsTo(path)[0]?.cancelledAt, {
      everyMs: 5,
      what: 'the call to be cancelled',
    });
    const row = await eventually(
      async () => (await world.rows()).find(({ trace_id }) => trace_id === traceId),
      {
        what: 'the row',
      },
    );
    world.note(row.id, 'once');
    expect(row).toMatchObject({ ending: 'client_aborted', status: 499 });
  });

  it('while it is still sending ends the call too', async () => {
    const listener = await EchoUpstream.start(world.service.facts.egressPorts);
    const controller = new AbortController();
    const pending = world.service.client.open({
      method: 'POST',
      path: '/v1/half',
      headers: {
        ...world.hostHeaders(listener.url),
        'content-type': 'text/plain',
        'x-gateway-trace-id': world.newTrace(),
      },
      body: (async function* () {
        yield Buffer.from('half of it');
        await eventually(() => listener.ledger.length > 0, {
          what: 'the head to reach the provider',
        });
        controller.abort();
        await sleep(200);
      })(),
      signal: controller.signal,
    });
    await expect(pending).rejects.toThrow();
    await eventually(() => listener.ledger[0]?.cancelledAt, {
      everyMs: 5,
      what: 'the call to be cancelled',
    });
    expect(listener.ledger[0]?.complete, 'half a body must not look like a whole one').toBe(false);
    await listener.stop();
  });
});

describe('a provider that breaks off', () => {
  it('J05: a reset in mid-stream never looks like the end of the response', async () => {
    const answer = await world.open({
      method: 'POST',
      path: '/v1/reset-mid-stream',
      headers: world.hostHeaders(raw.url),
      body: BODY,
    });
    expect(answer.status).toBe(200);
    const outcome = await drain(answer.stream);
    expect(outcome.text).toContain('part 2');
    expect(outcome.failed || /event: error\n/.test(outcome.text), outcome.text).toBe(true);
    expect(await world.logs.row(answer.requestId)).toMatchObject({ ending: 'upstream_truncated' });
  });

  it('a chunked response without its last chunk never looks complete', async () => {
    const answer = await world.open({
      method: 'POST',
      path: '/v1/cut-chunked',
      headers: world.hostHeaders(raw.url),
      body: BODY,
    });
    const outcome = await drain(answer.stream);
    expect(outcome.failed || /event: error\n/.test(outcome.text), outcome.text).toBe(true);
    expect(await world.logs.row(answer.requestId)).toMatchObject({ ending: 'upstream_truncated' });
  });

  it('a stream that falls silent is ended at the idle timeout', async () => {
    const started = Date.now();
    const answer = await world.open({
      method: 'POST',
      path: '/v1/stall-mid-stream',
      headers: world.hostHeaders(raw.url),
      body: BODY,
    });
    const outcome = await drain(answer.stream);
    expect(outcome.failed || /event: error\n/.test(outcome.text), outcome.text).toBe(true);
    expect(Date.now() - started).toBeGreaterThanOrEqual(IDLE_MS * 0.95);
    expect(Date.now() - started, 'it waited once').toBeLessThan(2 * IDLE_MS);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      ending: 'upstream_truncated',
      error_code: 'upstream_timeout',
    });
    await eventually(() => raw.callsOf('stall-mid-stream')[0]?.closedAt, {
      what: 'the socket to be closed',
    });
  });

  it('J06: an odd but legal stream arrives byte for byte, and its usage is read', async () => {
    world.upstream.on('/base/v9/chat/completions', {
      headers: SSE,
      body: async (response) => {
        for (let at = 0; at < ODD_STREAM.length; at += 7) {
          response.write(ODD_STREAM.subarray(at, at + 7));
          if (at % 3 === 0) await sleep(1);
        }
      },
    });
    const answer = await world.open({
      method: 'POST',
      path: CHAT,
      body: { ...BODY, stream_options: { include_usage: true } },
    });
    const parts: Buffer[] = [];
    for await (const part of answer.stream) parts.push(part as Buffer);
    expect(Buffer.concat(parts).equals(ODD_STREAM)).toBe(true);
    const row = await world.logs.row(answer.requestId);
    expect(row).toMatchObject({
      ending: 'completed',
      usage_source: 'provider',
      input_tokens: 11,
      output_tokens: 7,
    });
  });
});

describe('a provider that reports a failure within a stream', () => {
  const failing = (error: object): string => `${event('part 1')}data: ${JSON.stringify(error)}\n\n`;
  const OVERLOADED = { error: { message: 'The server is overloaded.', type: 'server_error', code: null } };

  it.each([
    ['and ends it', failing(OVERLOADED)],
    ['and says that it is done', `${failing(OVERLOADED)}data: [DONE]\n\n`],
  ])('%s: the client gets it as it is, and the row says that it failed', async (_, text) => {
    world.upstream.on('/base/v9/chat/completions', {
      headers: SSE,
      body: (response) => void response.write(text),
    });
    const answer = await world.open({ method: 'POST', path: CHAT, body: BODY });
    expect(await drain(answer.stream)).toEqual({ text, failed: false });
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      ending: 'upstream_truncated',
      status: 200,
      error_code: 'upstream_error',
      error_source: 'provider',
    });
  });

  it('not: a model may speak of errors', async () => {
    const text = `${event(JSON.stringify(OVERLOADED))}data: [DONE]\n\n`;
    world.upstream.on('/base/v9/chat/completions', {
      headers: SSE,
      body: (response) => void response.write(text),
    });
    const answer = await world.open({ method: 'POST', path: CHAT, body: BODY });
    expect(await drain(answer.stream)).toEqual({ text, failed: false });
    expect(await world.logs.row(answer.requestId)).toMatchObject({ ending: 'completed', error_code: null });
  });
});

it('a stream is one whatever the case of its type: it leaves as it comes, and is metered', async () => {
  const gate = new Gate();
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  world.upstream.on('/base/v9/chat/completions', {
    headers: [['content-type', 'Text/Event-Stream;charset=UTF-8']],
    body: async (response) => {
      response.write(event('first'));
      await gate.after(1);
      response.write(
        `data: ${JSON.stringify({ model: 'gpt-4o-mini', choices: [], usage })}\n\ndata: [DONE]\n\n`,
      );
    },
  });
  const answer = await world.open({ method: 'POST', path: CHAT, body: BODY });
  for await (const part of answer.stream) if (String(part).includes('first')) gate.pass();
  expect(await world.logs.row(answer.requestId)).toMatchObject({
    usage_source: 'provider',
    input_tokens: 11,
    output_tokens: 7,
  });
});

/** Reads to the end, however it ends. */
async function drain(stream: AsyncIterable<unknown>): Promise<{ text: string; failed: boolean }> {
  let text = '';
  try {
    for await (const part of stream) text += String(part);
    return { text, failed: false };
  } catch {
    return { text, failed: true };
  }
}

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
