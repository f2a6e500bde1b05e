import type { ChildMessage, MetricJson, MetricsForm } from '../../common/processes/ipc.js';
import { createLogger } from '../../common/observability/logger.js';
import type { KeptProcess } from './kept-process.js';

const logger = createLogger('launcher');

const METRICS_TIMEOUT_MS = 1_000;

type MetricsQuestion = Extract<ChildMessage, { readonly type: 'metrics:ask' }>;

interface Collection {
  readonly missing: Set<KeptProcess>;
  readonly metrics: (readonly MetricJson[])[];
  readonly finish: () => void;
}

/** The metrics that only the supervisor has. */
export const SUPERVISOR_METRICS = {
  restarts: {
    name: 'gatehouse_process_restarts_total',
    help: 'Child processes that ended and were restarted.',
    type: 'counter',
    labelNames: ['process'],
  },
  ready: {
    name: 'gatehouse_processes_ready',
    help: 'Child processes that are ready.',
    type: 'gauge',
    labelNames: ['process'],
  },
} as const;

/**
 * One response to `/metrics` for all processes: the process that is scraped asks the supervisor, which collects and merges the metrics of
 * all. A process that does not respond within a second is left out, so that a hanging one cannot hide the others.
 */
export class MergedMetrics {
  private readonly open = new Map<number, Collection>();
  private last = 0;

  constructor(private readonly everyone: () => readonly KeptProcess[]) {}

  receive(message: ChildMessage, from: KeptProcess): void {
    if (message.type === 'metrics:ask') this.collect(message, from);
    if (message.type === 'metrics:given') this.take(message.id, message.json, from);
  }

  private collect({ id: askedAs, form }: MetricsQuestion, asker: KeptProcess): void {
    const id = ++this.last;
    const running = this.everyone().filter((kept) => kept.running);
    const finish = (): void => {
      clearTimeout(timer);
      this.open.delete(id);
      merge([...collection.metrics, this.ownMetrics()], form).then(
        (metrics) => asker.tell({ type: 'metrics:merged', id: askedAs, metrics }),
        (error: unknown) => logger.error({ err: error }, 'The metrics of the processes cannot be merged.'),
      );
    };
    const timer = setTimeout(finish, METRICS_TIMEOUT_MS);
    const collection: Collection = { missing: new Set(running), metrics: [], finish };
    this.open.set(id, collection);
    for (const kept of running) kept.tell({ type: 'metrics:collect', id });
  }

  private take(id: number, json: readonly MetricJson[], from: KeptProcess): void {
    const collection = this.open.get(id);
    if (!collection?.missing.delete(from)) return;
    collection.metrics.push(json);
    if (collection.missing.size === 0) collection.finish();
  }

  /** Metrics that only the supervisor has. */
  private ownMetrics(): readonly MetricJson[] {
    const names = [...new Set(this.everyone().map(({ name }) => name))];
    const sumOf = (count: (kept: KeptProcess) => number) =>
      names.map((name) => ({
        labels: { process: name },
        value: this.everyone().reduce((sum, kept) => sum + (kept.name === name ? count(kept) : 0), 0),
      }));
    const restarts = {
      ...SUPERVISOR_METRICS.restarts,
      aggregator: 'sum',
      values: sumOf(({ restarts }) => restarts),
    };
    const ready = {
      ...SUPERVISOR_METRICS.ready,
      aggregator: 'sum',
      values: sumOf(({ serves }) => (serves ? 1 : 0)),
    };
    return [restarts, ready] as unknown as readonly MetricJson[];
  }
}

/** prom-client is loaded on the first scrape: a start does not need it. */
async function merge(
  parts: readonly (readonly MetricJson[])[],
  form: MetricsForm,
): Promise<string | readonly MetricJson[]> {
  const { AggregatorRegistry } = await import('prom-client');
  const merged = AggregatorRegistry.aggregate([...parts]);
  return form === 'text' ? merged.metrics() : await merged.getMetricsAsJSON();
}
