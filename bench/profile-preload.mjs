/**
 * Loaded into every Gatehouse process by `--profile`. In the gateway processes and the administration, the first SIGUSR2 starts the CPU
 * profiler and the second writes `<folder>/<pid>.cpuprofile`, so that a profile covers the load without start and end. It does nothing
 * else.
 */
import cluster from 'node:cluster';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

const folder = process.env.BENCH_PROFILE_DIR;
const SAMPLE_EVERY_US = 200;
let session = null;

async function begin() {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  await session.post('Profiler.start');
}

async function finish() {
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  session = null;
  writeFileSync(join(folder, `${process.pid}.cpuprofile`), JSON.stringify(profile));
}

if (folder && (cluster.isWorker || process.argv[1]?.endsWith('/administration.js'))) {
  process.on('SIGUSR2', () => void (session ? finish() : begin()));
  writeFileSync(join(folder, `${process.pid}.ready`), '');
}
