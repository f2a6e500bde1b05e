/** One slot with the CPU profiler on in the gateway process, and the functions that took the most time. */
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chatRequest } from './request-bytes.mjs';
import { runSlot } from './slot.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SHOWN = 30;
const SHOWN_WAITS = 40;

/** Runs work with the profiler on in one process of a service started for it, writes the profile, and prints its functions. */
export async function profileWhile({ profiles }, pid, folder, work) {
  if (!existsSync(join(profiles, `${pid}.ready`)))
    throw new Error(`process ${pid} did not load the profiler`);
  process.kill(pid, 'SIGUSR2');
  await sleep(500);
  const result = await work();
  process.kill(pid, 'SIGUSR2');
  const written = join(profiles, `${pid}.cpuprofile`);
  const profile = await readWhenComplete(written);
  if (!profile) throw new Error(`process ${pid} wrote no profile`);
  copyFileSync(written, join(folder, 'administration.cpuprofile'));
  for (const { name, usPerRequest } of hotFunctions(profile, result.requests))
    console.error(`${usPerRequest.toFixed(1).padStart(8)} µs/request  ${name}`);
  return result;
}

/** Runs work while one process of a service started with `tail-preload.mjs` is counting, and prints its waiting times. */
export async function tailWhile({ profiles }, pid, work) {
  process.kill(pid, 'SIGUSR2');
  const result = await work();
  process.kill(pid, 'SIGUSR2');
  const tail = await readWhenComplete(join(profiles, `${pid}.tail.json`));
  if (!tail) throw new Error(`process ${pid} wrote nothing`);
  const { user, system } = tail.cores;
  const megabytes = (tail.memory.rss / 2 ** 20).toFixed(0);
  console.error(
    `${(user + system).toFixed(2)} cores (${system.toFixed(2)} of them in the kernel), event loop ${(100 * tail.utilization).toFixed(0)} % busy, ${megabytes} MiB`,
  );
  console.error('   count    sum ms   p50    p95    p99    max ms');
  for (const { what, count, sum, p50, p95, p99, max } of tail.lines
    .sort((one, other) => other.sum - one.sum)
    .slice(0, SHOWN_WAITS)) {
    const times = [p50, p95, p99, max].map((ms) => ms.toFixed(1).padStart(6));
    console.error(`${String(count).padStart(8)} ${sum.toFixed(0).padStart(9)} ${times.join(' ')}  ${what}`);
  }
  return result;
}

/** @returns {Promise<{ file: string, requests: number, cpuUsPerRequest: number, hot: object[] } | { missing: string }>} */
export async function profileGatehouse(bench, track, { seconds, resultsFolder, stamp }) {
  const { contender } = track;
  const [pid] = contender.gatewayPids();
  if (!existsSync(join(contender.profiles, `${pid}.ready`)))
    return { missing: 'the gateway process did not load the profiler (NODE_OPTIONS did not reach it)' };
  process.kill(pid, 'SIGUSR2');
  await sleep(500);
  const request = chatRequest(contender.port, contender.headers, { stream: false });
  const slot = await runSlot(bench, contender, { kind: 'closed', concurrency: 64, seconds, request });
  track.sent += slot.requests;
  process.kill(pid, 'SIGUSR2');

  const written = join(contender.profiles, `${pid}.cpuprofile`);
  const profile = await readWhenComplete(written);
  if (!profile) return { missing: 'the gateway process wrote no profile' };
  const file = join(resultsFolder, `${stamp}.cpuprofile`);
  copyFileSync(written, file);
  return {
    file,
    requests: slot.requests,
    cpuUsPerRequest: slot.cpuUsPerUnit,
    hot: hotFunctions(profile, slot.requests),
  };
}

async function readWhenComplete(file) {
  for (let tries = 0; tries < 150; tries += 1) {
    await sleep(200);
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      // Missing, or only half written.
    }
  }
  return null;
}

/** Functions by their own time, microseconds per request. Garbage collection has a separate line. */
function hotFunctions(profile, requests) {
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  const spent = new Map();
  profile.samples.forEach((id, index) => {
    const frame = frames.get(id);
    const place = frame.url ? `${shortened(frame.url)}:${frame.lineNumber + 1}` : '';
    const name = `${frame.functionName || '(anonymous)'} ${place}`.trim();
    spent.set(name, (spent.get(name) ?? 0) + profile.timeDeltas[index]);
  });
  return [...spent]
    .filter(([name]) => name !== '(idle)')
    .sort((a, b) => b[1] - a[1])
    .slice(0, SHOWN)
    .map(([name, us]) => ({ name, usPerRequest: us / requests }));
}

function shortened(url) {
  return url.replace('file://', '').replace(ROOT, '');
}
