import { Connection, microseconds } from './connection.mjs';
import { CpuTrace } from './cpu-trace.mjs';
import { Histogram } from './histogram.mjs';

/** A contender that fails this often is not measured any further. */
const ERRORS_AT_MOST = 200;

/**
 * `concurrency` connections, each of which sends its next request after the complete response to the previous one. Latency is from the
 * write of the request to the last byte of the response.
 *
 * In a closed loop the load follows the contender: compare latencies at 64 connections only together with the throughput. With `pauseMs`
 * each connection pauses between its requests. With `traced`, process ids by name, the result says what the slowest requests waited for;
 * this needs a single connection.
 *
 * @param {{ port: number, request: string, concurrency: number, seconds: number, pauseMs?: number, traced?: Record<string, number> }} job
 */
export async function closedLoop(job) {
  const run = new ClosedLoop(job);
  return run.measure();
}

class ClosedLoop {
  #job;
  #request;
  #latency = new Histogram();
  #problems = new Map();
  #errors = 0;
  #bodySize = 0;
  #until = 0;
  #trace = null;

  constructor(job) {
    this.#job = job;
    this.#request = Buffer.from(job.request, 'latin1');
    if (job.traced && job.concurrency !== 1) throw new Error('A trace needs a single connection.');
  }

  async measure() {
    const places = Array.from({ length: this.#job.concurrency }, () => Connection.open(this.#job.port));
    const connections = await Promise.all(places);
    const started = microseconds();
    this.#until = started + this.#job.seconds * 1e6;
    if (this.#job.traced) this.#trace = new CpuTrace(this.#job.traced);
    await Promise.all(connections.map((connection) => this.#loop(connection)));
    const seconds = (microseconds() - started) / 1e6;
    return {
      seconds,
      requests: this.#latency.count,
      requestsPerSecond: this.#latency.count / seconds,
      latency: this.#latency.summary(),
      trace: this.#trace?.summary(),
      bodySize: this.#bodySize,
      errors: this.#errors,
      problems: Object.fromEntries(this.#problems),
    };
  }

  /** Keeps one slot busy until the time is up, with a new connection after a broken one. */
  async #loop(first) {
    let connection = first;
    while (!(await this.#drive(connection))) {
      if (this.#over()) return;
      connection = await Connection.open(this.#job.port).catch((error) => this.#problem(error.code));
      if (!connection) return;
    }
    connection.close();
  }

  #over() {
    return microseconds() >= this.#until || this.#errors >= ERRORS_AT_MOST;
  }

  /** @returns {Promise<boolean>} true when the time was up, false when the connection broke. */
  #drive(connection) {
    const { pauseMs = 0 } = this.#job;
    return new Promise((resolve) => {
      let sentAt = 0;
      let size = 0;
      let status = 0;
      const send = () => {
        size = 0;
        sentAt = microseconds();
        connection.send(this.#request, exchange);
      };
      const exchange = {
        head: (code) => (status = code),
        body: (bytes) => (size += bytes.length),
        end: () => {
          this.#answered(microseconds() - sentAt, status, size);
          if (this.#over()) resolve(true);
          else if (pauseMs > 0) setTimeout(send, pauseMs);
          else send();
        },
        failed: (reason) => {
          this.#problem(reason);
          resolve(false);
        },
      };
      send();
    });
  }

  #answered(latency, status, size) {
    if (status !== 200) return void this.#problem(`status ${status}`);
    if (this.#bodySize === 0) this.#bodySize = size;
    if (size !== this.#bodySize)
      return void this.#problem(`a body of ${size} instead of ${this.#bodySize} bytes`);
    this.#latency.record(latency);
    this.#trace?.record(latency);
  }

  #problem(what) {
    this.#errors += 1;
    this.#problems.set(what, (this.#problems.get(what) ?? 0) + 1);
  }
}
