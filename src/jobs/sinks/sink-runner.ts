import { Counter, Gauge } from 'prom-client';
import { IntervalJob, type Round } from '../../common/loops/interval-job.js';
import type { Logger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { deliveryFailure } from '../failure-reason.js';
import type { LogBatch, LogDestination } from './log-sink.js';
import type { SinkBook } from './sink-book.js';

/** Metrics of the sinks of the request log. */
const sinkMetrics = {
  deliveries: new Counter({
    name: 'gatehouse_sink_deliveries_total',
    help: 'Deliveries to log sinks, by outcome.',
    labelNames: ['sink', 'outcome'],
  }),
  rows: new Counter({
    name: 'gatehouse_sink_rows_total',
    help: 'Requests that log sinks accepted.',
    labelNames: ['sink'],
  }),
  oldestSeconds: new Gauge({
    name: 'gatehouse_sink_oldest_seconds',
    help: 'Age of the oldest batch of requests that the sink has not accepted.',
    labelNames: ['sink'],
  }),
};

/** `idle`: nothing to send, or another process sends it. */
export type SinkDelivery = 'delivered' | 'failed' | 'idle';

const EVERY_MS = 1_000;
/** From the first byte of a delivery to the receiver's confirmation. Well below the lease of a cursor. */
const DELIVERY_MS = 40_000;

/**
 * Delivers stored requests to one sink. It reads only committed rows and touches nothing of the gateway, so a slow or dead sink delays only
 * its own cursor.
 */
export class SinkRunner {
  private readonly report: (message: string, error: unknown) => void;
  private readonly job: IntervalJob;
  private isRegistered = false;

  constructor(
    private readonly sink: LogDestination,
    private readonly book: SinkBook,
    logger: Logger,
    private readonly deliveryMs = DELIVERY_MS,
  ) {
    this.report = reportSparsely(logger);
    this.job = new IntervalJob((round) => this.round(round), {
      name: `sink-${sink.id}`,
      everyMs: EVERY_MS,
      logger,
      failure: `The sink ${sink.id} could not be served.`,
    });
  }

  start(): void {
    this.job.start();
    void this.job.round();
  }

  async stop(): Promise<void> {
    await this.job.stop();
    await this.sink.close();
  }

  /** One delivery. Receiver errors are recorded in the sink's row; rejects only when the database is unavailable. */
  async deliver(): Promise<SinkDelivery> {
    const { sink, book } = this;
    if (!this.isRegistered) await book.register(sink.id);
    this.isRegistered = true;
    await book.number();
    const claimed = await book.claim(sink.id);
    if (!claimed) return 'idle';
    const batches = await book.next(claimed, sink.gathering);
    const last = batches.at(-1);
    if (!last) {
      await book.cursors.release(claimed);
      return 'idle';
    }
    try {
      const consignment = {
        batches,
        rows: () => book.rows(batches),
        rowsOf: (of: readonly LogBatch[]) => book.rows(of),
        guardrailRuns: () => book.guardrailRuns(batches),
      };
      await inTime(sink, consignment, this.deliveryMs);
    } catch (error) {
      this.report(`The sink ${sink.id} did not accept its batch. Trying again.`, error);
      sinkMetrics.deliveries.inc({ sink: sink.id, outcome: 'failed' });
      await book.cursors.fail(claimed, deliveryFailure(error));
      return 'failed';
    }
    await book.cursors.advance(claimed, last.seq);
    sinkMetrics.deliveries.inc({ sink: sink.id, outcome: 'delivered' });
    sinkMetrics.rows.inc(
      { sink: sink.id },
      batches.reduce((sum, { rows }) => sum + rows, 0),
    );
    return 'delivered';
  }

  private async round(round: Round): Promise<void> {
    while (!round.hasEnded && (await this.deliver()) === 'delivered') round.progressed();
    sinkMetrics.oldestSeconds.set({ sink: this.sink.id }, await this.book.lagSeconds(this.sink.id));
  }
}

/** Work that ignores the signal is abandoned: it may still arrive, and is then delivered twice. */
async function inTime(
  sink: LogDestination,
  consignment: Parameters<LogDestination['deliver']>[0],
  withinMs: number,
): Promise<void> {
  const signal = AbortSignal.timeout(withinMs);
  const work = sink.deliver(consignment, signal);
  work.catch(() => undefined);
  const tooLate = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  await Promise.race([work, tooLate]);
}
