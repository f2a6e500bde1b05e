/**
 * The cost of translation in one process, without a network: `npm run bench:translation`, after `npm run build`.
 *
 * Each line is the time that translation adds to a request: parsing the provider's JSON or events and writing the client's. Untranslated
 * requests pay none of it. Percentiles are over single calls.
 */
import { performance } from 'node:perf_hooks';
import { findProvider } from '../dist/providers/catalog/registry.js';
import { clientFormats } from '../dist/providers/client-formats/index.js';
import { TranslatedStream } from '../dist/gateway/translation/translated-stream.js';
import { translatedAnswer } from '../dist/gateway/translation/translated-answer.js';
import { nothingRead } from '../dist/gateway/recording/reading.js';

const WARM_UP = 2_000;
const RUNS = 5_000;
const SIZES = [1, 10, 100];
const EVENTS = 64;

const context = (isStreamed) => ({
  id: '01900000-0000-7000-8000-000000000000',
  created: 1_750_000_000,
  model: 'claude-sonnet-4-5',
  isStreamed,
  fields: {},
  isStrict: true,
});
const JSON_REPLY = { rawHeaders: ['content-type', 'application/json'] };
const words = (kib) =>
  'a reverse proxy forwards what it reads '.repeat(Math.ceil((kib * 1024) / 39)).slice(0, kib * 1024);

/** Times of `RUNS` calls in microseconds, sorted. */
function timed(work) {
  for (let run = 0; run < WARM_UP; run++) work();
  const times = new Float64Array(RUNS);
  for (let run = 0; run < RUNS; run++) {
    const began = performance.now();
    work();
    times[run] = (performance.now() - began) * 1000;
  }
  return times.sort();
}

const at = (times, share) => times[Math.floor(times.length * share)];

function report(name, times, per = 1) {
  const cells = [0.5, 0.99].map((share) => (at(times, share) / per).toFixed(2).padStart(10));
  console.log(`| ${name.padEnd(64)} | ${cells.join(' | ')} |`);
}

function translation(endpoint, provider) {
  const { dialect } = findProvider(provider);
  return {
    shape: clientFormats[endpoint] ?? null,
    translator: dialect.translators?.['chat-completions'] ?? null,
    hub: 'chat-completions',
  };
}

const anthropicAnswer = (kib) =>
  Buffer.from(
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: words(kib) }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 40, output_tokens: 150 },
    }),
  );
const chatRequest = (kib) => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 256,
  messages: [{ role: 'user', content: words(kib) }],
});

const sse = (event, data) => Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
const anthropicStream = () => [
  sse('message_start', {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      usage: { input_tokens: 40, output_tokens: 1 },
    },
  }),
  sse('content_block_start', {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: '' },
  }),
  ...Array.from({ length: EVENTS }, (_, n) =>
    sse('content_block_delta', {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: `word ${n} and more of it ` },
    }),
  ),
];

console.log(`| ${'µs'.padEnd(64)} |        p50 |        p99 |`);
console.log(`|${'-'.repeat(66)}|-----------:|-----------:|`);
for (const kib of SIZES) {
  const way = {
    translation: translation('chat-completions', 'anthropic'),
    context: context(false),
    asked: chatRequest(kib),
    hub: chatRequest(kib),
  };
  const request = timed(() => JSON.stringify(way.translation.translator.request(way.hub, way.context).body));
  report(`request of ${kib} KiB, chat completions to Anthropic`, request);
  const answer = anthropicAnswer(kib);
  report(
    `answer of ${kib} KiB, Anthropic to chat completions`,
    timed(() => translatedAnswer(JSON_REPLY, answer, way, nothingRead())),
  );
  // Also paid by an untranslated response: it is read for its usage.
  report(
    `  of which reading it once, which every answer pays`,
    timed(() => JSON.parse(answer.toString('utf8'))),
  );
}
const events = anthropicStream();
for (const endpoint of ['chat-completions', 'responses']) {
  const way = { translation: translation(endpoint, 'anthropic'), context: context(true), asked: {}, hub: {} };
  const times = [];
  for (let run = 0; run < 400; run++) {
    const stream = new TranslatedStream(way, nothingRead());
    for (const event of events) {
      const began = performance.now();
      stream.feed(event);
      times.push((performance.now() - began) * 1000);
    }
  }
  report(
    `one event of a stream, Anthropic to ${endpoint}`,
    Float64Array.from(times.slice(times.length / 4)).sort(),
  );
}
