/**
 * Loaded into every Gatehouse process by `--measure translation`. In the gateway processes it measures the time per chunk of a stream: for
 * translating it, and for handling it altogether, including the write to the client. It is wall-clock time of a process that has a core for
 * itself: the system's CPU time has artefacts at single microseconds, because it jumps whenever another thread's time is added, and shows
 * 30 µs where nothing is done. The first SIGUSR2 starts, the second writes `<folder>/<pid>.chunks.json`. It changes nothing else; while
 * idle, it costs a comparison per chunk.
 */
import cluster from 'node:cluster';
import { renameSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { Histogram } from './histogram.mjs';

const folder = process.env.BENCH_PROFILE_DIR;
const TIMED = {
  translation: ['TranslatedStream', 'feed'],
  translated: ['TranslatedDelivery', 'onChunk'],
  untranslated: ['Delivery', 'onChunk'],
};
let histograms = null;

/**
 * The program of a process is one file that exports none of its classes: it is loaded with an added line, which passes them to
 * `tellClasses`.
 */
const HOOK = `export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.endsWith('/dist/main.js')) return loaded;
  const classes = ${JSON.stringify(Object.values(TIMED).map(([type]) => type))};
  return { ...loaded, source: loaded.source + '\\nglobalThis.tellClasses({ ' + classes.join(', ') + ' });' };
}`;

/** Measures each call of a method. */
function time(name, { prototype }, method) {
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
  globalThis.tellClasses = (classes) => {
    for (const [name, [type, method]] of Object.entries(TIMED)) time(name, classes[type], method);
  };
  register(`data:text/javascript,${encodeURIComponent(HOOK)}`);
  process.on('SIGUSR2', toggle);
}
