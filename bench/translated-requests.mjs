/**
 * The cost of translation per request through the service: `npm run bench -- --measure translation`, after `npm run build`.
 *
 * One client of chat completions sends the same prompt to two providers: one in OpenAI's format, and one in Anthropic's. The measure is the
 * CPU time of the gateway process, which a busy machine affects less than elapsed time. Limits: a translated request costs at most 1.3
 * times an untranslated one, a chunk of a translated stream at most 30 µs more, at p99.
 *
 * Both take turns in short rounds, and each round is compared with its neighbour: disturbances of the machine, and garbage from earlier
 * rounds, affect both. Both are warmed up first, long enough for the compiler.
 *
 * From outside, CPU time is only available as sums, which yield averages. For percentiles of a chunk the gateway process measures its own
 * handling of each (`chunk-preload.mjs`): from the provider's bytes to the write to the client.
 */
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTENDERS } from './contenders.mjs';
import { moveTo, pinningFor } from './pinning.mjs';
import { runMicroseconds } from './proc.mjs';

/**
 * Bodies by size in KiB: requests per round, and warm-up requests for both. The compiler settles after some 4,000 translated requests of a
 * size that runs other code than the previous one: until then one costs up to four times as much.
 */
const SIZES = new Map([
  [1, { requests: 500, warmUp: 10_000 }],
  [10, { requests: 400, warmUp: 10_000 }],
  [100, { requests: 100, warmUp: 2_000 }],
]);
const ROUNDS = 12;
const AT_ONCE = 8;
const EVENTS = 256;
/** Warm-up with short streams: the work once per stream, at its start and end, must be warm as well. */
const SHORT_STREAMS = 4_000;
const SHORT_EVENTS = 8;
const STREAMS = { requests: 24, warmUp: 64 };
const STREAM_ROUNDS = 8;
const RATIO_MAX = 1.3;
const CHUNK_US_MAX = 30;
const PRELOAD = new URL('chunk-preload.mjs', import.meta.url).href;

/** Typical text has lines, and words in quotation marks: JSON has to escape both. */
const LINE = 'A reverse proxy forwards what it reads, and "buffers" as little of it as it can.\n';
/** Most responses of current models contain at least a dash or an apostrophe outside ASCII. */
const TYPESET = 'A reverse proxy forwards what it reads – and “buffers” as little of it as it can.\n';

const words = (kib, line = LINE) => line.repeat(Math.ceil((kib * 1024) / line.length)).slice(0, kib * 1024);
const texts = new Map(
  [...SIZES.keys()].flatMap((kib) => [
    [String(kib), words(kib)],
    [`${kib}-typeset`, words(kib, TYPESET)],
  ]),
);

/** Responses in the two formats, of the size that the request names. */
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
      } else void stream(response, EVENTS_OF[asked.url], asked.headers['x-bench-short'] !== undefined);
    });
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  return server;
}

/** One event per turn, so that each is sent in its own packet. */
async function stream(response, events, isShort) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.socket.setNoDelay(true);
  const sent = isShort ? [...events.slice(0, SHORT_EVENTS), ...events.slice(-SHORT_EVENTS)] : events;
  for (const event of sent) {
    response.write(event);
    await new Promise((next) => (isShort ? setImmediate(next) : setTimeout(next, 1)));
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
  const before = runMicroseconds(pids);
  await many(count, one);
  return (runMicroseconds(pids) - before) / count;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Both in turn, in alternating order. The ratio is the median over the rounds. */
async function compared(gateway, { requests, warmUp, rounds = ROUNDS }, plain, translated) {
  for (const part of [0, 1, 2, 3]) await many(warmUp / 4, part % 2 ? translated : plain);
  const costs = { plain: [], translated: [] };
  const ways = { plain, translated };
  for (let round = 0; round < rounds; round += 1)
    for (const name of round % 2 ? ['translated', 'plain'] : ['plain', 'translated'])
      costs[name].push(await cost(gateway, requests, ways[name]));
  return {
    plain: median(costs.plain),
    translated: median(costs.translated),
    ratio: median(costs.translated.map((us, round) => us / costs.plain[round])),
    more: median(costs.translated.map((us, round) => us - costs.plain[round])),
  };
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

const question = (content, more = {}) =>
  Buffer.from(
    JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: 256,
      messages: [{ role: 'user', content }],
      ...more,
    }),
  );

/** Prints a table; resolves to whether all limits hold. */
export async function measureTranslation({ pin = true } = {}) {
  const server = await startUpstream();
  const upstream = { port: server.address().port };
  const pinning = pinningFor(1, pin);
  if (pinning.on) moveTo(pinning.rest, process.pid);
  const gateway = await CONTENDERS.gatehouse({ upstream, pinning, profile: true, preload: PRELOAD });
  try {
    const other = await keyOf(gateway, upstream.port);
    const areRequestsGood = await requestTable(gateway, other);
    return (await measureChunks(gateway, other)) && areRequestsGood;
  } finally {
    await gateway.stop();
    server.close();
    agent.destroy();
  }
}

async function requestTable(gateway, other) {
  console.log(
    '| body, KiB | untranslated, µs of CPU | translated | more | ratio | |\n|---|--:|--:|--:|--:|---|',
  );
  let areGood = true;
  for (const [name, text] of texts) {
    const body = question(text);
    const named = { 'x-bench-kib': name };
    const result = await compared(
      gateway,
      SIZES.get(parseInt(name, 10)),
      () => send(gateway, body, named),
      () => send(other, body, named),
    );
    const { plain, translated, more, ratio } = result;
    const isGood = ratio <= RATIO_MAX;
    areGood &&= isGood;
    const cells = [plain, translated, more].map((us) => us.toFixed(0));
    console.log(
      `| ${name} | ${cells.join(' | ')} | ${ratio.toFixed(2)} (bound ${RATIO_MAX}) | ${verdict(isGood)} |`,
    );
  }
  return areGood;
}

async function measureChunks(gateway, other) {
  const body = question(words(1), { stream: true, stream_options: { include_usage: true } });
  for (const way of [gateway, other])
    await many(SHORT_STREAMS, () => send(way, body, { 'x-bench-short': 'yes' }));
  const ways = [() => send(gateway, body), () => send(other, body)];
  const { plain, translated, more } = await compared(gateway, { ...STREAMS, rounds: STREAM_ROUNDS }, ...ways);
  const [one, another, added] = [plain, translated, more].map((us) => (us / EVENTS).toFixed(1));
  console.log(`| a chunk of a stream, on average | ${one} | ${another} | ${added} | | |`);
  return chunkTable(await timedChunks(gateway, ways));
}

/** Time of single chunks in the gateway process, microseconds. Throws when it was not reported. */
async function timedChunks(gateway, ways) {
  const [pid] = gateway.gatewayPids();
  process.kill(pid, 'SIGUSR2');
  for (let round = 0; round < STREAM_ROUNDS; round += 1)
    for (const way of ways) await many(STREAMS.requests, way);
  process.kill(pid, 'SIGUSR2');
  const file = join(gateway.profiles, `${pid}.chunks.json`);
  for (let tries = 0; tries < 50; tries += 1) {
    await sleep(100);
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      // Missing so far.
    }
  }
  throw new Error('the gateway process did not tell what its chunks took');
}

const verdict = (isGood) => (isGood ? 'PASS' : '**FAIL**');

/** The extra time of a translated chunk: its p99 minus that of an untranslated one, which is also read for its usage. */
function chunkTable({ untranslated, translated, translation }) {
  console.log('\n| a chunk, µs | chunks | p50 | p99 | p99.9 | |\n|---|--:|--:|--:|--:|---|');
  const row = (name, { count, p50, p99, p999 }, last = '') => {
    const cells = [p50, p99, p999].map((us) => us.toFixed(1));
    console.log(`| ${name} | ${count ?? ''} | ${cells.join(' | ')} | ${last} |`);
  };
  const added = Object.fromEntries(
    ['p50', 'p99', 'p999'].map((name) => [name, translated[name] - untranslated[name]]),
  );
  const isGood = added.p99 <= CHUNK_US_MAX;
  row('untranslated: read for usage, written', untranslated);
  row('translated: read, translated, written', translated);
  row('of that the translation', translation);
  row(`added (bound ${CHUNK_US_MAX} at p99)`, added, verdict(isGood));
  return isGood;
}
