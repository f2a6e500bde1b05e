/** One measurement of one contender: the load, and its processes' resource use. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from './children.mjs';
import { busyByCore, cpuMicroseconds, residentMib } from './proc.mjs';

const SAMPLE_EVERY_MS = 200;
/** The rest of a product is idle when it uses less than this share of a core. */
const QUIET = 0.1;
const QUIET_WITHIN_MS = 30_000;

/**
 * @param {{ load: import('node:child_process').ChildProcess, pinning: object }} bench
 * @param {import('./contenders.mjs').Contender} contender
 * @param {{ settle?: boolean }} job `settle` false: do not wait for background writes
 */
export async function runSlot(bench, contender, { settle = true, ...job }) {
  const gateways = contender.gatewayPids();
  const others = contender.otherPids();
  const before = reading(gateways, others);
  const memory = watchMemory(gateways);
  const answer = await ask(bench.load, { port: contender.port, ...job });
  memory.stop();
  const after = reading(gateways, others);
  if (answer.failure) throw new Error(answer.failure);
  const settleMs = settle && others.length > 0 ? await untilQuiet(others) : 0;

  const { result } = answer;
  const work = result.requests ?? result.streams;
  const elapsedUs = (after.at - before.at) * 1000;
  const gatewayUs = after.gateway - before.gateway;
  return {
    ...result,
    cpuUsPerUnit: gatewayUs / work,
    otherCpuUsPerUnit: (cpuMicroseconds(others) - before.others) / work,
    gatewayBusy: gatewayUs / elapsedUs,
    foreignBusy: foreignShare(bench.pinning, { before, after, gatewayUs, elapsedUs }),
    loadCoreBusy: shareOf(bench.pinning.load, before, after, elapsedUs),
    rssMib: memory.highest(),
    settleMs,
  };
}

function reading(gateways, others) {
  return {
    at: performance.now(),
    gateway: cpuMicroseconds(gateways),
    others: cpuMicroseconds(others),
    cores: busyByCore(),
  };
}

function shareOf(cores, before, after, elapsedUs) {
  let used = 0;
  for (const core of cores) used += after.cores.get(core) - before.cores.get(core);
  return used / (elapsedUs * cores.length);
}

/** Share of the gateway's cores used by other processes: noise of the machine. Unknown without pinning. */
function foreignShare(pinning, { before, after, gatewayUs, elapsedUs }) {
  if (!pinning.on) return null;
  const all = shareOf(pinning.gateway, before, after, elapsedUs);
  return Math.max(0, all - gatewayUs / (elapsedUs * pinning.gateway.length));
}

export function watchMemory(pids, everyMs = SAMPLE_EVERY_MS) {
  const samples = [residentMib(pids)];
  const timer = setInterval(() => samples.push(residentMib(pids)), everyMs);
  return {
    samples,
    highest: () => Math.max(...samples),
    stop: () => clearInterval(timer),
  };
}

/** Background writes must not disturb the next contender. */
async function untilQuiet(pids) {
  const started = performance.now();
  let used = cpuMicroseconds(pids);
  for (;;) {
    await sleep(500);
    const now = cpuMicroseconds(pids);
    const waited = performance.now() - started;
    if ((now - used) / 500_000 < QUIET || waited > QUIET_WITHIN_MS) return Math.round(waited - 500);
    used = now;
  }
}
