import { Counter, Gauge, register } from 'prom-client';
import type { CacheStatus } from '../../request-log/record.js';

/** Plain numbers, so that requests do not pay for a metrics library. */
export const cacheCounts = {
  asked: { HIT: 0, 'SEMANTIC HIT': 0, MISS: 0, 'SEMANTIC MISS': 0, REFRESH: 0 } satisfies Record<
    Exclude<CacheStatus, 'DISABLED'>,
    number
  >,
  kept: 0,
  storeFailures: 0,
  memoryBytes: 0,
  embeddings: 0,
  embeddingFailures: 0,
  vectorBytes: 0,
};

/** Registers the metrics of the response cache. Call once per process. */
export function registerCacheMetrics(): void {
  new Counter({
    name: 'gatehouse_cache_requests_total',
    help: 'Requests that used the response cache, by outcome.',
    labelNames: ['status'],
    registers: [register],
    collect() {
      this.reset();
      for (const [status, count] of Object.entries(cacheCounts.asked)) this.inc({ status }, count);
    },
  });
  counter(
    'gatehouse_cache_kept_total',
    'Answers that were stored in the response cache.',
    () => cacheCounts.kept,
  );
  counter(
    'gatehouse_cache_store_failures_total',
    'Failures and timeouts of the cache store.',
    () => cacheCounts.storeFailures,
  );
  counter(
    'gatehouse_cache_embeddings_total',
    'Texts that were embedded for the semantic cache.',
    () => cacheCounts.embeddings,
  );
  counter(
    'gatehouse_cache_embedding_failures_total',
    'Requests without a semantic cache lookup, because their embedding was not ready in time.',
    () => cacheCounts.embeddingFailures,
  );
  gauge(
    'gatehouse_cache_memory_bytes',
    'Bytes of cached responses in memory.',
    () => cacheCounts.memoryBytes,
  );
  gauge(
    'gatehouse_cache_vector_bytes',
    'Bytes of embeddings of cached requests in memory.',
    () => cacheCounts.vectorBytes,
  );
}

function gauge(name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    registers: [register],
    collect() {
      this.set(value());
    },
  });
}

function counter(name: string, help: string, value: () => number): void {
  new Counter({
    name,
    help,
    registers: [register],
    collect() {
      this.reset();
      this.inc(value());
    },
  });
}
