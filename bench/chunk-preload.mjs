/**
 * Loaded into every Gatehouse process by `--measure translation`. In the gateway processes it measures the time of one
 * chunk of a stream: of translating it, and of handling it altogether, writing to the client included. It is time on the clock,
 * of a process that has its core for itself: what CPU time the system tells of single microseconds jumps whenever it
 * adds up another thread's, and shows 30 µs where nothing is done. The first SIGUSR2 begins, the second writes
 * `<folder>/<pid>.chunks.json`. It changes nothing else; while it does not measure, it costs a comparison per chunk.
 */
import cluster from 'node:cluster';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Histogram } from './histogram.mjs';

const folder = process.env.BENCH_PROFILE_DIR;
const TIMED = {
  translation: ['../dist/gateway/translating/translated-stream.js', 'TranslatedStream', 'feed'],
  translated: ['../dist/gateway/delivery/translated-delivery.js', 'TranslatedDelivery', 'onChunk'],
  untranslated: ['../dist/gateway/delivery/delivery.js', 'Delivery', 'onChunk'],
};
let histograms = null;

/** Measures each call of a method. */
async function time(name, [file, type, method]) {
  const { prototype } = (await import(file))[type];
  const inner = prototype[method];
  prototype[method] = function timed(chunk) {
    if (histograms === null) return inner.call(this, chunk);
    const before = performance.now();
    const result = inner.call(this, chunk);
    histograms[name].record((performance.now() - before) * 1000);
    return result;
  };
}

function toggle() {
  if (histograms === null) {
    histograms = Object.fromEntries(Object.keys(TIMED).map((name) => [name, new Histogram()]));
    return;
  }
  const summaries = Object.entries(histograms).map(([name, histogram]) => [name, histogram.summary()]);
  histograms = null;
  const file = join(folder, `${process.pid}.chunks.json`);
  writeFileSync(`${file}.part`, JSON.stringify(Object.fromEntries(summaries)));
  renameSync(`${file}.part`, file);
}

if (folder && cluster.isWorker) {
  await import('reflect-metadata');
  for (const [name, place] of Object.entries(TIMED)) await time(name, place);
  process.on('SIGUSR2', toggle);
}
