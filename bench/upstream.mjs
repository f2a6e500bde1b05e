/**
 * The fake provider: POST /v1/chat/completions with a fixed response of about 1 KB, or, when the body requests a stream, 64 server-sent
 * events at 20 ms and `[DONE]`. Written on raw sockets, so that it stays many times faster than any gateway in front of it.
 *
 * Each event contains its sending time, in microseconds of the machine's monotonic clock, inside the text (`t=<16 digits>`): a gateway that
 * parses and rewrites events keeps it, and the reader on the same machine can compute the event's transit time.
 *
 * Started by run.mjs with an IPC channel; ends with it.
 */
import { createServer } from 'node:net';
import { HttpReader } from './http-reader.mjs';
import { FRAME_INTERVAL_MS, FRAMES } from './stream-shape.mjs';

const STREAM_ASKED = Buffer.from('"stream":true');
const CREATED = 1_750_000_000;
const MODEL = 'gpt-4o-mini-2024-07-18';
const counts = { plain: 0, streams: 0 };

const ANSWER = fixedAnswer();
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n';
const STREAM_END = `${chunk(usageFrame())}${chunk('data: [DONE]\n\n')}0\r\n\r\n`;

const server = createServer({ noDelay: true }, (socket) => {
  let wantsStream = false;
  const reader = new HttpReader({
    head: () => (wantsStream = false),
    body: (bytes) => (wantsStream ||= bytes.includes(STREAM_ASKED)),
    end: () => (wantsStream ? startStream(socket) : answer(socket)),
  });
  socket.on('data', (bytes) => {
    try {
      reader.push(bytes);
    } catch {
      socket.destroy();
    }
  });
  socket.on('error', () => socket.destroy());
});

server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => process.send({ counts }));
process.on('disconnect', () => process.exit(0));

function answer(socket) {
  counts.plain += 1;
  socket.write(ANSWER);
}

function startStream(socket) {
  counts.streams += 1;
  let sent = 0;
  socket.write(STREAM_HEAD + chunk(frame(sent)));
  const stop = () => clearInterval(timer);
  const timer = setInterval(() => {
    sent += 1;
    if (sent < FRAMES) return void socket.write(chunk(frame(sent)));
    stop();
    // Connections are kept: listeners of past streams would accumulate.
    socket.off('close', stop);
    socket.write(STREAM_END);
  }, FRAME_INTERVAL_MS);
  socket.once('close', stop);
}

function frame(position) {
  const now = String(process.hrtime.bigint() / 1000n).padStart(16, '0');
  const delta = position === 0 ? { role: 'assistant', content: `t=${now}` } : { content: ` t=${now}` };
  return event({ choices: [{ index: 0, delta, logprobs: null, finish_reason: null }] });
}

function usageFrame() {
  return event({ choices: [], usage: usage(FRAMES) });
}

function event(rest) {
  const head = { id: 'chatcmpl-bench0000000000000000000', object: 'chat.completion.chunk' };
  return `data: ${JSON.stringify({ ...head, created: CREATED, model: MODEL, ...rest })}\n\n`;
}

function chunk(text) {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

function fixedAnswer() {
  const content = 'A gateway carries one request to a provider and back. '.repeat(10).trim();
  const body = JSON.stringify({
    id: 'chatcmpl-bench0000000000000000000',
    object: 'chat.completion',
    created: CREATED,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: usage(110),
    service_tier: 'default',
    system_fingerprint: 'fp_bench',
  });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

function usage(completion) {
  return {
    prompt_tokens: 180,
    completion_tokens: completion,
    total_tokens: 180 + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}
