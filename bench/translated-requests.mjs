/**
 * What translation costs a request through the service: `npm run bench -- --measure translation`, after `npm run build`.
 *
 * The same question is asked of two providers by the same client of chat completions: one that speaks OpenAI's shape, and one
 * that speaks Anthropic's. Compared is the CPU time of the gateway process, which a busy machine stretches less than it
 * stretches time. Bounds: a translated request costs 1.3 times an untranslated one at most, a translated chunk 30 µs more.
 *
 * From outside, CPU time is seen in sums, which give averages only. For the percentiles of a chunk the gateway process
 * measures what it does with each (`chunk-preload.mjs`): from the bytes of the provider to the write to the client.
 */
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTENDERS } from './contenders.mjs';
import { pinningFor } from './pinning.mjs';
import { cpuMicroseconds } from './proc.mjs';

const SIZES = [1, 10, 100];
const ROUNDS = 5;
const REQUESTS = 500;
const WARM_UP = 1_500;
const AT_ONCE = 8;
const EVENTS = 256;
const STREAMS = 60;
const RATIO_MAX = 1.3;
const CHUNK_US_MAX = 30;
const PRELOAD = new URL('chunk-preload.mjs', import.meta.url).href;

const words = (kib) =>
  'a reverse proxy forwards what it reads '.repeat(Math.ceil((kib * 1024) / 39)).slice(0, kib * 1024);
const texts = new Map([0, ...SIZES].map((kib) => [String(kib), words(kib)]));

/** Answers of the two shapes, of the size that the request names. */
const PLAIN = {
  '/v1/chat/completions': (text) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 40, completion_tokens: 150, total_tokens: 190 },
  }),
  '/v1/messages': (text) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 40, output_tokens: 150 },
  }),
};
const bodies = new Map(
  Object.entries(PLAIN).flatMap(([path, make]) =>
    [...texts].map(([kib, text]) => [path + kib, Buffer.from(JSON.stringify(make(text)))]),
  ),
);

const data = (value) => `data: ${JSON.stringify(value)}\n\n`;
const named = (type, value) => `event: ${type}\n${data({ type, ...value })}`;
const times = (make) => Array.from({ length: EVENTS }, (_, at) => make(`word ${at} `));
const EVENTS_OF = {
  '/v1/chat/completions': [
    ...times((content) =>
      data({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      }),
    ),
    data({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: { prompt_tokens: 4, completion_tokens: 9, total_tokens: 13 },
    }),
    'data: [DONE]\n\n',
  ],
  '/v1/messages': [
    named('message_start', {
      message: { id: 'm', model: 'm', usage: { input_tokens: 4, output_tokens: 1 } },
    }),
    named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...times((text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    named('content_block_stop', { index: 0 }),
    named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
    named('message_stop', {}),
  ],
};

async function startUpstream() {
  const server = createServer((asked, response) => {
    asked.resume().on('end', () => {
      const kib = asked.headers['x-bench-kib'];
      if (kib !== undefined) {
        const body = bodies.get(asked.url + kib);
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
          .end(body);
      } else void stream(response, EVENTS_OF[asked.url]);
    });
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return server;
}

/** An event per turn, so that each comes in a packet of its own. */
async function stream(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.socket.setNoDelay(true);
  for (const event of events) {
    response.write(event);
    await new Promise((next) => setTimeout(next, 1));
  }
  response.end();
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

function send({ port, headers }, body, more = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        path: '/v1/chat/completions',
        method: 'POST',
        agent,
        headers: { ...headers, ...more, 'content-type': 'application/json', 'content-length': body.length },
      },
      (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`the gateway answered ${answer.statusCode}`));
        answer.resume().on('end', resolve).on('error', reject);
      },
    );
    sent.on('error', reject).end(body);
  });
}

async function many(count, one) {
  let left = count;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await one();
    }),
  );
}

/** CPU microseconds of the gateway per call. */
async function cost(gateway, count, one) {
  const pids = gateway.gatewayPids();
  const before = cpuMicroseconds(pids);
  await many(count, one);
  return (cpuMicroseconds(pids) - before) / count;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** The two ways in turn, so that what disturbs the machine disturbs both. */
async function compared(gateway, count, plain, translated) {
  await many(WARM_UP / 10, plain);
  await many(WARM_UP / 10, translated);
  const rounds = { plain: [], translated: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.plain.push(await cost(gateway, count, plain));
    rounds.translated.push(await cost(gateway, count, translated));
  }
  return { plain: median(rounds.plain), translated: median(rounds.translated) };
}

async function keyOf(gateway, port) {
  const { 'x-gateway-api-key': key } = gateway.headers;
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1/virtual-keys`, {
    method: 'POST',
    headers: { 'x-gateway-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: `bench-anthropic-${port}`,
      provider: 'anthropic',
      key: 'sk-bench',
      custom_host: `http://127.0.0.1:${port}/v1`,
    }),
  });
  if (!answer.ok) throw new Error(`no virtual key: ${answer.status} ${await answer.text()}`);
  const { data: made } = await answer.json();
  return { port: gateway.port, headers: { 'x-gateway-api-key': key, 'x-gateway-virtual-key': made.slug } };
}

const question = (kib, more = {}) =>
  Buffer.from(
    JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: 256,
      messages: [{ role: 'user', content: words(kib) }],
      ...more,
    }),
  );

/** Prints a table; resolves to whether all bounds hold. */
export async function measureTranslation() {
  const server = await startUpstream();
  const upstream = { port: server.address().port };
  const gateway = await CONTENDERS.gatehouse({
    upstream,
    pinning: pinningFor(1, false),
    profile: true,
    preload: PRELOAD,
  });
  try {
    const other = await keyOf(gateway, upstream.port);
    console.log('| body | untranslated, µs of CPU | translated | ratio | |\n|---|--:|--:|--:|---|');
    let isGood = true;
    for (const kib of SIZES) {
      const body = question(kib);
      const named = { 'x-bench-kib': String(kib) };
      const { plain, translated } = await compared(
        gateway,
        REQUESTS,
        () => send(gateway, body, named),
        () => send(other, body, named),
      );
      isGood = line(`${kib} KiB`, plain, translated, translated / plain, RATIO_MAX) && isGood;
    }
    const body = question(1, { stream: true, stream_options: { include_usage: true } });
    const { plain, translated } = await compared(
      gateway,
      STREAMS,
      () => send(gateway, body),
      () => send(other, body),
    );
    const [one, another] = [plain / EVENTS, translated / EVENTS];
    isGood =
      line(
        'a chunk of a stream (last column: what it costs more)',
        one,
        another,
        another - one,
        CHUNK_US_MAX,
      ) && isGood;
    return chunkTable(await timedChunks(gateway, body, other)) && isGood;
  } finally {
    await gateway.stop();
    server.close();
    agent.destroy();
  }
}

/** CPU time of the gateway process for single chunks, microseconds. Throws when it did not tell. */
async function timedChunks(gateway, body, other) {
  const [pid] = gateway.gatewayPids();
  process.kill(pid, 'SIGUSR2');
  for (let round = 0; round < ROUNDS; round += 1)
    for (const way of [gateway, other]) await many(STREAMS, () => send(way, body));
  process.kill(pid, 'SIGUSR2');
  const file = join(gateway.profiles, `${pid}.chunks.json`);
  for (let tries = 0; tries < 50; tries += 1) {
    await sleep(100);
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      // Not there yet.
    }
  }
  throw new Error('the gateway process did not tell what its chunks took');
}

/** The translation itself is what a chunk has more at most: an untranslated one is read for its usage, too. */
function chunkTable({ untranslated, translated, translation }) {
  console.log('\n| a chunk, µs of CPU | chunks | p50 | p99 | p99.9 | |\n|---|--:|--:|--:|--:|---|');
  const row = (name, { count, p50, p99, p999 }, verdict = '') => {
    const cells = [p50, p99, p999].map((us) => us.toFixed(1));
    console.log(`| ${name} | ${count} | ${cells.join(' | ')} | ${verdict} |`);
  };
  const isGood = translation.p99 <= CHUNK_US_MAX;
  row('untranslated: read for usage, written', untranslated);
  row('translated: read, translated, written', translated);
  row(`of that the translation (bound ${CHUNK_US_MAX} at p99)`, translation, isGood ? 'PASS' : '**FAIL**');
  return isGood;
}

function line(name, plain, translated, value, bound) {
  const isGood = value <= bound;
  const cells = [plain, translated].map((us) => us.toFixed(1));
  console.log(
    `| ${name} | ${cells.join(' | ')} | ${value.toFixed(2)} (bound ${bound}) | ${isGood ? 'PASS' : '**FAIL**'} |`,
  );
  return isGood;
}
