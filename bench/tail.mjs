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

/**
 * Alternates between the bare forwarder, Gatehouse, and Gatehouse with its other processes stopped by SIGSTOP.
 *
 * @returns {Promise<{ name: string, p50: number, p99: number }[]>} medians over the rounds, milliseconds
 */
export async function measureTail(bench, { bare, gatehouse }, { rounds, seconds }) {
  const rows = [
    { name: 'bare', contender: bare, isPaused: false },
    { name: 'gatehouse', contender: gatehouse, isPaused: false },
    { name: 'gatehouse, background processes stopped', contender: gatehouse, isPaused: true },
  ].map((row) => ({ ...row, latencies: [] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const row of rows) {
      row.latencies.push(await latencyOf(bench, row, seconds));
      await sleep(REST_MS);
    }
  }
  return rows.map(({ name, latencies }) => ({
    name,
    p50: median(latencies.map(({ p50 }) => p50)) / 1000,
    p99: median(latencies.map(({ p99 }) => p99)) / 1000,
  }));
}

export function printTail(rows) {
  console.log(
    '\n### Slowest percent at one connection\n\n| ms | p50 | p99 | p99, of bare |\n| --- | --: | --: | --: |',
  );
  for (const { name, p50, p99 } of rows)
    console.log(`| ${name} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${(p99 / rows[0].p99).toFixed(2)} × |`);
}

async function latencyOf(bench, { contender, isPaused }, seconds) {
  const request = chatRequest(contender.port, contender.headers, { stream: false });
  const paused = isPaused ? contender.otherPids() : [];
  signal(paused, 'SIGSTOP');
  try {
    const job = { kind: 'closed', concurrency: 1, seconds, request, settle: !isPaused };
    return (await runSlot(bench, contender, job)).latency;
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
