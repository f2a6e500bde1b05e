import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, microseconds } from './connection.mjs';
import { Histogram } from './histogram.mjs';

const STALL_MS = 200;
const MARK = Buffer.from('t=');
const MARK_LENGTH = MARK.length + 16;
const DONE = Buffer.from('data: [DONE]');
const NOTHING = Buffer.alloc(0);

/**
 * `streams` connections, each reading one stream after the other, `turns` times. The starts are spread evenly over `spreadMs`, as with
 * independent clients.
 *
 * Time to first token: from the write of the request to the first event. Delay of a chunk: from the time that the upstream wrote into the
 * event to its receipt. Stall: 200 ms without an event, or `stallMs`.
 *
 * @param {{ port: number, request: string, streams: number, turns: number, spreadMs: number, frames: number, stallMs?: number }} job
 */
export async function streamLoad(job) {
  const figures = { ttft: new Histogram(), delay: new Histogram(), gap: new Histogram() };
  const outcome = {
    streams: 0,
    complete: 0,
    withoutStall: 0,
    stalls: 0,
    missingFrames: 0,
    errors: 0,
    problems: {},
  };
  const request = Buffer.from(job.request, 'latin1');
  const started = microseconds();
  const connections = await Promise.all(Array.from({ length: job.streams }, () => Connection.open(job.port)));
  await Promise.all(
    connections.map(async (connection, position) => {
      await sleep((position * job.spreadMs) / job.streams);
      for (let turn = 0; turn < job.turns; turn += 1) {
        const stream = new StreamReader(figures, job.stallMs ?? STALL_MS);
        const problem = await stream.read(connection, request);
        note(outcome, stream, problem ?? stream.problem(job.frames), job.frames);
        if (problem) break;
      }
      connection.close();
    }),
  );
  return {
    seconds: (microseconds() - started) / 1e6,
    ...outcome,
    ttft: figures.ttft.summary(),
    delay: figures.delay.summary(),
    gap: figures.gap.summary(),
  };
}

function note(outcome, stream, problem, frames) {
  outcome.streams += 1;
  outcome.stalls += stream.stalls;
  outcome.missingFrames += Math.max(0, frames - stream.frames);
  if (!problem) outcome.complete += 1;
  if (!problem && stream.stalls === 0) outcome.withoutStall += 1;
  if (!problem) return;
  outcome.errors += 1;
  outcome.problems[problem] = (outcome.problems[problem] ?? 0) + 1;
}

class StreamReader {
  frames = 0;
  stalls = 0;
  #figures;
  #status = 0;
  #sentAt = 0;
  #lastAt = 0;
  #done = false;
  #carry = NOTHING;
  #stallMicroseconds;

  constructor(figures, stallMs) {
    this.#figures = figures;
    this.#stallMicroseconds = stallMs * 1_000;
  }

  /** @returns {Promise<string | undefined>} why the connection broke, if it did. */
  read(connection, request) {
    return new Promise((resolve) => {
      this.#sentAt = microseconds();
      connection.send(request, {
        head: (status) => (this.#status = status),
        body: (bytes) => this.#take(bytes),
        end: () => resolve(undefined),
        failed: resolve,
      });
    });
  }

  problem(frames) {
    if (this.#status !== 200) return `status ${this.#status}`;
    if (this.frames !== frames) return `${this.frames} of ${frames} events`;
    if (!this.#done) return 'no [DONE]';
    return undefined;
  }

  /** Marks and the end may span two chunks, so the last bytes are searched again with the next chunk. */
  #take(bytes) {
    const now = microseconds();
    const text = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    let from = 0;
    for (;;) {
      const at = text.indexOf(MARK, from);
      if (at < 0 || at + MARK_LENGTH > text.length) break;
      this.#frame(now, Number(text.latin1Slice(at + MARK.length, at + MARK_LENGTH)));
      from = at + MARK_LENGTH;
    }
    if (text.includes(DONE, from)) this.#done = true;
    const keepFrom = Math.max(from, text.length - MARK_LENGTH);
    this.#carry = keepFrom === text.length ? NOTHING : Buffer.from(text.subarray(keepFrom));
  }

  #frame(now, sentAt) {
    if (Number.isNaN(sentAt)) return;
    if (this.frames === 0) this.#figures.ttft.record(now - this.#sentAt);
    else this.#gap(now - this.#lastAt);
    this.#figures.delay.record(now - sentAt);
    this.#lastAt = now;
    this.frames += 1;
  }

  #gap(microsecondsSinceLast) {
    this.#figures.gap.record(microsecondsSinceLast);
    if (microsecondsSinceLast > this.#stallMicroseconds) this.stalls += 1;
  }
}
