/**
 * Latency at one connection with and without the background processes: which part of the slowest percent is the gateway's own, and which is
 * that of the worker and PostgreSQL, which share a core with the load generator on a small machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { chatRequest } from './request-bytes.mjs';
import { median } from './schedule.mjs';
import { runSlot } from './slot.mjs';

/** Until the background processes have written the backlog of a paused slot. */
const REST_MS = 1_500;
/** On the way of a request. */
const PROCESSES = ['load generator', 'gateway', 'upstream'];

/**
 * Alternates between the bare forwarder, Gatehouse, and Gatehouse with its other processes stopped by SIGSTOP.
 *
 * @returns {Promise<{ name: string, p50: number, p99: number, traces: object[] }[]>} medians over the rounds, milliseconds, and what the
 *   slowest percent of each round waited for
 */
export async function measureTail(bench, { bare, gatehouse }, { rounds, seconds }) {
  const rows = [
    { name: 'bare', contender: bare, isPaused: false },
    { name: 'gatehouse', contender: gatehouse, isPaused: false },
    { name: 'gatehouse, background processes stopped', contender: gatehouse, isPaused: true },
  ].map((row) => ({ ...row, slots: [] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const row of rows) {
      row.slots.push(await slotOf(bench, row, seconds));
      await sleep(REST_MS);
    }
  }
  return rows.map(({ name, slots }) => ({
    name,
    p50: median(slots.map(({ latency }) => latency.p50)) / 1000,
    p99: median(slots.map(({ latency }) => latency.p99)) / 1000,
    traces: slots.map(({ trace }) => trace),
  }));
}

export function printTail(rows) {
  console.log(
    '\n### Slowest percent at one connection\n\n| ms | p50 | p99 | p99, of bare |\n| --- | --: | --: | --: |',
  );
  for (const { name, p50, p99 } of rows)
    console.log(`| ${name} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${(p99 / rows[0].p99).toFixed(2)} × |`);
  console.log(
    '\nWhat the slowest percent took more than the faster half, means in ms:\n\n' +
      `| | latency | ${PROCESSES.map((name) => `${name} waited for a core`).join(' | ')} | ${PROCESSES.map((name) => `${name} ran`).join(' | ')} |\n` +
      `| --- | ${Array.from({ length: 1 + 2 * PROCESSES.length }, () => '--:').join(' | ')} |`,
  );
  for (const { name, traces } of rows) {
    const excess = (read) =>
      (median(traces.map(({ slowest, typical }) => read(slowest) - read(typical))) / 1000).toFixed(2);
    const parts = ['waited', 'ran'].flatMap((part) =>
      PROCESSES.map((process) => excess((means) => means[part][process])),
    );
    console.log(`| ${name} | ${excess(({ latency }) => latency)} | ${parts.join(' | ')} |`);
  }
}

async function slotOf(bench, { contender, isPaused }, seconds) {
  const request = chatRequest(contender.port, contender.headers, { stream: false });
  const paused = isPaused ? contender.otherPids() : [];
  signal(paused, 'SIGSTOP');
  try {
    const traced = {
      'load generator': bench.load.pid,
      gateway: contender.gatewayPids()[0],
      upstream: bench.upstream.child.pid,
    };
    return await runSlot(bench, contender, {
      ...{ kind: 'closed', concurrency: 1, seconds, request, traced },
      settle: !isPaused,
    });
  } finally {
    signal(paused, 'SIGCONT');
  }
}

/** A process of PostgreSQL may have ended in the meantime. */
function signal(pids, name) {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}
