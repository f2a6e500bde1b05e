/**
 * Requests at a steady rate from a separate thread: a thread that writes thousands of rows a second cannot read responses in time, and
 * would attribute its own delay to the service.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * @param {{ base: string, key: string, perSecond: number, until: number }} job `until`: milliseconds since the epoch
 * @returns {{ arrived(): number, done: Promise<{ milliseconds: number[], failures: Record<string, number> }> }} `arrived`: requests
 * answered so far
 */
export function serveBeside(job) {
  const arrived = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: { ...job, arrived } });
  const done = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return { arrived: () => Atomics.load(arrived, 0), done };
}

async function serve({ base, key, perSecond, until, arrived }) {
  const body = JSON.stringify({ model: 'sandbox-1', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = {
    'content-type': 'application/json',
    'x-gateway-api-key': key,
    'x-gateway-provider': 'sandbox',
  };
  const url = new URL('/v1/chat/completions', base);
  const milliseconds = [];
  const failures = {};
  const fail = (reason) => (failures[reason] = (failures[reason] ?? 0) + 1);
  const one = async () => {
    const sent = performance.now();
    try {
      const answer = await fetch(url, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      Atomics.add(arrived, 0, 1);
      if (answer.status === 200) milliseconds.push(performance.now() - sent);
      else fail(`status ${answer.status}`);
    } catch (error) {
      fail(error.cause?.code ?? error.message);
    }
  };
  const began = Date.now();
  const running = [];
  for (let n = 0; Date.now() < until; n++) {
    const at = began + (n * 1_000) / perSecond;
    if (at > Date.now()) await sleep(at - Date.now());
    running.push(one());
  }
  await Promise.all(running);
  return { milliseconds, failures };
}

if (!isMainThread && workerData?.arrived) parentPort.postMessage(await serve(workerData));
