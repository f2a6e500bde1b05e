/**
 * What the slowest requests waited for: after each request of one connection, how long each process on its way has run and has waited for a
 * core since the request before, from the scheduler's own counters. https://docs.kernel.org/scheduler/sched-stats.html
 */
import { readFileSync } from 'node:fs';

const US = 1_000;
const SLOWEST = 0.01;

/** The main thread's time on a core and in a run queue, nanoseconds: in Node, the one that serves requests. */
function schedulerTimes(pid) {
  const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return { ran: Number(ran), waited: Number(waited) };
}

export class CpuTrace {
  #names;
  #pids;
  #last;
  #requests = [];

  /** @param {Readonly<Record<string, number>>} processes process ids by name */
  constructor(processes) {
    this.#names = Object.keys(processes);
    this.#pids = Object.values(processes);
    this.#last = this.#pids.map(schedulerTimes);
  }

  /** @param {number} latency of the request that just ended, microseconds */
  record(latency) {
    const now = this.#pids.map(schedulerTimes);
    const parts = now.flatMap(({ ran, waited }, at) => [
      (waited - this.#last[at].waited) / US,
      (ran - this.#last[at].ran) / US,
    ]);
    this.#last = now;
    this.#requests.push([latency, ...parts]);
  }

  /** Means over the faster half and over the slowest percent, microseconds. */
  summary() {
    const sorted = this.#requests.toSorted(([one], [other]) => one - other);
    const slowest = Math.max(1, Math.round(sorted.length * SLOWEST));
    return {
      typical: this.#means(sorted.slice(0, Math.ceil(sorted.length / 2))),
      slowest: this.#means(sorted.slice(-slowest)),
    };
  }

  #means(requests) {
    const mean = (column) => requests.reduce((sum, row) => sum + row[column], 0) / requests.length;
    return {
      latency: mean(0),
      waited: Object.fromEntries(this.#names.map((name, at) => [name, mean(1 + 2 * at)])),
      ran: Object.fromEntries(this.#names.map((name, at) => [name, mean(2 + 2 * at)])),
    };
  }
}
