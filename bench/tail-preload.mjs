/**
 * Loaded into every Gatehouse process by `bench:admin --tail`. In the administration the first SIGUSR2 starts counting, and the second
 * writes `<folder>/<pid>.tail.json`: delays of the event loop, pauses for garbage collection, waiting times for a connection of the pool,
 * and the duration of each statement as seen by its sender.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  constants,
  createHistogram,
  monitorEventLoopDelay,
  performance,
  PerformanceObserver,
} from 'node:perf_hooks';

const folder = process.env.BENCH_PROFILE_DIR;
const GC_KINDS = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'collection of the young',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'collection of the old',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'marking in steps',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak callbacks',
};
const STATEMENT_LETTERS = 90;

let counting = null;

class Counting {
  times = new Map();
  loop = monitorEventLoopDelay({ resolution: 1 });
  cpu = process.cpuUsage();
  usage = performance.eventLoopUtilization();
  begun = performance.now();

  constructor() {
    this.observer = new PerformanceObserver((list) => {
      for (const { detail, duration } of list.getEntries())
        this.took(GC_KINDS[detail.kind] ?? 'collection', duration);
    });
    this.observer.observe({ entryTypes: ['gc'] });
    this.loop.enable();
  }

  took(what, ms) {
    let histogram = this.times.get(what);
    if (!histogram) this.times.set(what, (histogram = createHistogram()));
    histogram.record(Math.max(1, Math.round(ms * 1000)));
  }

  finish() {
    this.loop.disable();
    this.observer.disconnect();
    const { user, system } = process.cpuUsage(this.cpu);
    const lines = [...this.times].map(([what, histogram]) => ({ what, ...figures(histogram, 1000) }));
    return {
      seconds: (performance.now() - this.begun) / 1000,
      cores: {
        user: user / 1000 / (performance.now() - this.begun),
        system: system / 1000 / (performance.now() - this.begun),
      },
      utilization: performance.eventLoopUtilization(this.usage).utilization,
      memory: process.memoryUsage(),
      lines: [{ what: 'event loop late', ...figures(this.loop, 1e6) }, ...lines],
    };
  }
}

/** Milliseconds. */
function figures(histogram, unit) {
  const at = (percent) => histogram.percentile(percent) / unit;
  return {
    count: histogram.count,
    sum: (histogram.mean * histogram.count) / unit,
    p50: at(50),
    p95: at(95),
    p99: at(99),
    max: histogram.max / unit,
  };
}

/** Durations from the call to its callback. */
function watchPool() {
  const pg = createRequire(join(process.cwd(), 'package.json'))('pg');
  const connect = pg.Pool.prototype.connect;
  pg.Pool.prototype.connect = function (callback) {
    const began = performance.now();
    if (!callback) return connect.call(this);
    return connect.call(this, (...answer) => {
      counting?.took('waiting for a connection', performance.now() - began);
      callback(...answer);
    });
  };
  const query = pg.Client.prototype.query;
  pg.Client.prototype.query = function (config, ...rest) {
    if (!counting) return query.call(this, config, ...rest);
    const began = performance.now();
    const text = (typeof config === 'string' ? config : (config.text ?? ''))
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, STATEMENT_LETTERS);
    const done = () => counting?.took(`> ${text}`, performance.now() - began);
    if (typeof config?.submit === 'function' && config.callback) {
      const { callback } = config;
      config.callback = (...answer) => (done(), callback(...answer));
      return query.call(this, config, ...rest);
    }
    const answer = query.call(this, config, ...rest);
    answer?.then?.(done, done);
    return answer;
  };
}

if (folder && process.argv[1]?.endsWith('/administration.js')) {
  watchPool();
  process.on('SIGUSR2', () => {
    if (!counting) counting = new Counting();
    else {
      writeFileSync(join(folder, `${process.pid}.tail.json`), JSON.stringify(counting.finish()));
      counting = null;
    }
  });
  writeFileSync(join(folder, `${process.pid}.ready`), '');
}
