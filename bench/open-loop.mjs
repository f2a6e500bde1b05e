import { Connection, microseconds } from './connection.mjs';
import { Histogram } from './histogram.mjs';

/** Maximum number of concurrent requests; further due ones wait, and the wait counts. */
const CONNECTIONS_AT_MOST = 256;

/**
 * Sends each request when it is due, whether or not earlier ones were answered, and measures from the due time to the last byte of the
 * response: a slow service cannot hide its delay by receiving fewer requests.
 *
 * @param {{ port: number, steps: { atUs: number, name: string, request: string }[] }} job in the order in which they are due
 */
export async function openLoop(job) {
  const run = new OpenLoop(job);
  return run.measure();
}

class OpenLoop {
  #port;
  #steps;
  #idle = [];
  #open = 0;
  #due = [];
  #left;
  #histograms = new Map();
  #problems = new Map();
  #errors = 0;
  #started = 0;
  #over = () => {};

  constructor({ port, steps }) {
    this.#port = port;
    this.#steps = steps.map((step) => ({ ...step, request: Buffer.from(step.request, 'utf8') }));
    this.#left = steps.length;
  }

  async measure() {
    const over = new Promise((resolve) => (this.#over = resolve));
    this.#started = microseconds();
    this.#tick(0);
    await over;
    for (const connection of this.#idle) connection.close();
    return {
      seconds: (microseconds() - this.#started) / 1e6,
      requests: this.#steps.length,
      operations: Object.fromEntries([...this.#histograms].map(([name, each]) => [name, each.summary()])),
      errors: this.#errors,
      problems: Object.fromEntries(this.#problems),
    };
  }

  #tick(next) {
    const now = microseconds() - this.#started;
    let at = next;
    while (at < this.#steps.length && this.#steps[at].atUs <= now) this.#due.push(this.#steps[at++]);
    this.#serve();
    if (at < this.#steps.length) setTimeout(() => this.#tick(at), (this.#steps[at].atUs - now) / 1000);
  }

  #serve() {
    while (this.#due.length > 0) {
      const connection = this.#idle.pop();
      if (connection) this.#send(connection, this.#due.shift());
      else if (this.#open < CONNECTIONS_AT_MOST) void this.#connect(this.#due.shift());
      else return;
    }
  }

  async #connect(step) {
    this.#open += 1;
    try {
      this.#send(await Connection.open(this.#port), step);
    } catch (error) {
      this.#failed(step, error.code ?? error.message);
    }
  }

  #send(connection, step) {
    let status = 0;
    connection.send(step.request, {
      head: (code) => (status = code),
      body: () => {},
      end: () => {
        if (status >= 200 && status < 300) this.#record(step);
        else this.#problem(step, `status ${status}`);
        this.#idle.push(connection);
        this.#done();
      },
      failed: (reason) => this.#failed(step, reason),
    });
  }

  #record({ name, atUs }) {
    let histogram = this.#histograms.get(name);
    if (!histogram) this.#histograms.set(name, (histogram = new Histogram()));
    histogram.record(microseconds() - this.#started - atUs);
  }

  /** The connection was lost. */
  #failed(step, reason) {
    this.#open -= 1;
    this.#problem(step, reason);
    this.#done();
  }

  #problem({ name }, what) {
    this.#errors += 1;
    const which = `${name}: ${what}`;
    this.#problems.set(which, (this.#problems.get(which) ?? 0) + 1);
  }

  #done() {
    this.#left -= 1;
    if (this.#left === 0) this.#over();
    else this.#serve();
  }
}
