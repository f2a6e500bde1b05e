/** Tests of the measuring instruments themselves, against servers that misbehave in a known way: `npm run bench:test`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closedLoop } from './closed-loop.mjs';
import { microseconds } from './connection.mjs';
import { CpuTrace } from './cpu-trace.mjs';
import { Histogram } from './histogram.mjs';
import { HttpReader } from './http-reader.mjs';
import { openLoop } from './open-loop.mjs';
import { chatRequest } from './request-bytes.mjs';
import { streamLoad } from './stream-load.mjs';
import { judge } from './summary.mjs';

const servers = [];
after(() => servers.forEach((server) => server.close()));

async function serve(handler) {
  const server = createServer((request, response) =>
    request.resume().on('end', () => handler(request, response)),
  );
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return server.address().port;
}

function load(port, extra) {
  return closedLoop({
    port,
    request: chatRequest(port, {}, { stream: false }),
    concurrency: 4,
    seconds: 0.2,
    ...extra,
  });
}

function streams(port, extra) {
  const request = chatRequest(port, {}, { stream: true });
  return streamLoad({ port, request, streams: 2, turns: 1, spreadMs: 0, frames: 3, ...extra });
}

const event = () => `data: {"content":"t=${String(Math.floor(microseconds())).padStart(16, '0')}"}\n\n`;

/** Three events and the end; `around` may act before each event. */
async function writeStream(response, around, { skip = -1, done = true } = {}) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let position = 0; position < 3; position += 1) {
    await around(position);
    if (position !== skip) response.write(event());
  }
  response.end(done ? 'data: [DONE]\n\n' : '');
}

test(
  'a trace tells running from waiting for a core, of the slowest requests',
  { skip: process.platform !== 'linux' },
  async () => {
    const trace = new CpuTrace({ self: process.pid });
    for (let request = 0; request < 100; request += 1) {
      const began = microseconds();
      if (request === 50) while (microseconds() - began < 60_000);
      else await sleep(1);
      // The counters are brought up to date when the process leaves its core.
      await sleep(1);
      trace.record(microseconds() - began);
    }
    const { typical, slowest } = trace.summary();
    const total = slowest.ran.self + slowest.waited.self;
    assert.ok(
      slowest.latency > 60_000 && total > 50_000 && total < slowest.latency * 1.1,
      JSON.stringify(slowest),
    );
    assert.ok(typical.ran.self < 5_000, JSON.stringify(typical));
  },
);

test('percentiles are within one percent from microseconds to minutes', () => {
  for (const scale of [1, 50, 3_000, 400_000, 60_000_000]) {
    const histogram = new Histogram();
    for (let share = 1; share <= 1000; share += 1) histogram.record((share * scale) / 1000);
    for (const share of [0.5, 0.9, 0.99]) {
      const error = Math.abs(histogram.percentile(share) - share * scale);
      assert.ok(error <= 0.01 * share * scale + 0.1, `scale ${scale}, share ${share}: off by ${error}`);
    }
    assert.equal(histogram.summary().max, scale);
  }
});

test('messages are read the same wherever the network cuts them', () => {
  const fixed = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
  const chunked =
    'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nA: b\r\n\r\n';
  const empty = 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n';
  const bytes = Buffer.from(fixed + chunked + empty);
  for (let size = 1; size <= bytes.length; size += 1) {
    const seen = [];
    let body = '';
    const reader = new HttpReader({
      head: (head) => (body = `${head.slice(9, 12)}:`),
      body: (piece) => (body += piece.toString()),
      end: () => seen.push(body),
    });
    for (let from = 0; from < bytes.length; from += size) reader.push(bytes.subarray(from, from + size));
    assert.deepEqual(seen, ['200:hello', '201:abcde', '204:'], `pieces of ${size}`);
  }
});

test('a slow answer is counted with its latency', async () => {
  const port = await serve((_request, response) => void sleep(30).then(() => response.end('{}')));
  const result = await load(port);
  assert.equal(result.errors, 0);
  assert.ok(result.latency.p50 >= 29_000 && result.latency.p50 < 60_000, `p50 ${result.latency.p50}`);
});

test('a status other than 200 is an error and no request', async () => {
  let turn = 0;
  const port = await serve((_request, response) => {
    turn += 1;
    response.writeHead(turn === 3 ? 502 : 200).end('{}');
  });
  const result = await load(port);
  assert.equal(result.errors, 1);
  assert.deepEqual(result.problems, { 'status 502': 1 });
});

test('a body of another size is an error', async () => {
  let turn = 0;
  const port = await serve((_request, response) => {
    turn += 1;
    response.end(turn === 5 ? '{"x":1}' : '{}');
  });
  assert.equal((await load(port)).errors, 1);
});

test('a connection that breaks is an error, and the load goes on', async () => {
  let turn = 0;
  const port = await serve((request, response) => {
    turn += 1;
    if (turn === 2) request.socket.destroy();
    else response.end('{}');
  });
  const result = await load(port);
  assert.equal(result.errors, 1);
  assert.ok(result.requests > 4);
});

test('a stream that arrives whole has no stall, and its delay is that of the wire', async () => {
  const port = await serve((_request, response) => void writeStream(response, () => sleep(20)));
  const result = await streams(port);
  assert.deepEqual([result.complete, result.withoutStall, result.missingFrames], [2, 2, 0]);
  assert.ok(result.ttft.p50 >= 19_000, `first token ${result.ttft.p50}`);
  assert.ok(result.delay.p50 < 10_000, `delay ${result.delay.p50}`);
});

test('a pause of more than 200 ms is a stall', async () => {
  const port = await serve(
    (_request, response) => void writeStream(response, (position) => sleep(position === 1 ? 260 : 5)),
  );
  const result = await streams(port);
  assert.deepEqual([result.complete, result.withoutStall, result.stalls], [2, 0, 2]);
});

test('a missing event and a missing end are errors', async () => {
  const lost = await serve((_request, response) => void writeStream(response, () => sleep(1), { skip: 1 }));
  const cut = await serve(
    (_request, response) => void writeStream(response, () => sleep(1), { done: false }),
  );
  assert.deepEqual((await streams(lost)).problems, { '2 of 3 events': 2 });
  assert.deepEqual((await streams(cut)).problems, { 'no [DONE]': 2 });
});

test('a gateway that holds events back shows it in their delay', async () => {
  const port = await serve(async (_request, response) => {
    response.writeHead(200);
    const held = event();
    await sleep(80);
    response.end(`${held}${event()}${event()}data: [DONE]\n\n`);
  });
  const result = await streams(port);
  assert.ok(result.delay.max >= 79_000, `delay ${result.delay.max}`);
});

test('what was not measured neither passes nor fails', () => {
  const verdicts = judge({}, { cores: 8, counted: undefined });
  assert.ok(verdicts.every(({ pass }) => pass === null));
});

test('a target missed by little is missed', () => {
  const row = (requestsPerSecond) => ({ requestsPerSecond });
  const verdicts = judge(
    { bare: row(1000), gatehouse: row(749) },
    { cores: 2, counted: { sent: 10, kept: { rows: 10, rolledUp: 9 } } },
  );
  assert.equal(verdicts[0].pass, false);
  assert.equal(verdicts.at(-1).pass, false);
});

test('an open loop measures from when a request was due, and counts what was refused by its operation', async () => {
  const opened = performance.now() + 300;
  const port = await serve(async (request, response) => {
    await sleep(Math.max(0, opened - performance.now()));
    response.writeHead(request.url === '/refused' ? 503 : 200).end('x');
  });
  const step = (atUs, name) => ({ atUs, name, request: `GET /${name} HTTP/1.1\r\nhost: x\r\n\r\n` });
  const late = opened - performance.now();
  const steps = [step(0, 'early'), step(0, 'refused'), step(100_000, 'later'), step(600_000, 'after')];
  const { operations, errors, problems } = await openLoop({ port, steps });

  assert.ok(operations.early.p50 >= (late - 20) * 1000, `early took ${operations.early.p50} µs`);
  assert.ok(operations.later.p50 <= operations.early.p50 - 50_000, `later took ${operations.later.p50} µs`);
  assert.ok(operations.after.p50 < 100_000, `after took ${operations.after.p50} µs`);
  assert.deepEqual([errors, problems], [1, { 'refused: status 503': 1 }]);
});
