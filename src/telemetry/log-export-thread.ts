import { parentPort, workerData } from 'node:worker_threads';
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs';
import { OTLP_TIMEOUTS } from '../common/net/store-timeouts.js';
import { settingsOfProcess } from '../common/settings/settings.js';
import { operatorEgress } from '../egress/operator-egress.js';
import { exportItems, ExportRefused, telemetryResource, throughEgress } from './exporting.js';
import type { LogOutcomes, ThreadStart } from './log-export.js';
import { lineRecord } from './log-record.js';

const CONNECTIONS = 1;
const RETRY_MS = 5_000;
const NO_OUTCOMES: LogOutcomes = { taken: 0, sent: 0, dropped: 0, failed: 0 };

/**
 * The thread of a process that sends its log lines to a collector. It has an event loop and a heap of its own, so an export costs the
 * process's requests nothing. At most `queueSize` lines wait; further ones are dropped and counted.
 */
class LogExportThread {
  private readonly waiting: ReadableLogRecord[] = [];
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> | null = null;

  private constructor(
    private readonly start: ThreadStart,
    private readonly exporter: Awaited<ReturnType<typeof exporterFor>>,
    private readonly origin: Awaited<ReturnType<typeof telemetryResource>>,
  ) {}

  static async start(start: ThreadStart): Promise<LogExportThread> {
    return new LogExportThread(start, await exporterFor(new URL(start.url)), await telemetryResource());
  }

  take(text: string): void {
    const { queueSize, trustsClients, everyMs } = this.start;
    let dropped = 0;
    for (const line of text.split('\n')) {
      const record = line === '' ? null : lineRecord(line, trustsClients);
      if (record === null) continue;
      if (this.waiting.length >= queueSize) dropped++;
      else this.waiting.push(this.readable(record));
    }
    report({ ...NO_OUTCOMES, taken: text.length, dropped });
    this.wait(everyMs);
  }

  /** Sends what is waiting, once. */
  async end(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    await this.running;
    await this.send();
  }

  private wait(ms: number): void {
    if (this.timer !== null || this.running !== null || this.waiting.length === 0) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.running = this.send().then((next) => {
        this.running = null;
        this.wait(next);
      });
    }, ms);
  }

  /** Until all are sent or the collector is unavailable. Resolves with the time until the next round, milliseconds. */
  private async send(): Promise<number> {
    const { batchSize, everyMs } = this.start;
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, batchSize);
      try {
        await exportItems(this.exporter, batch);
        report({ ...NO_OUTCOMES, sent: batch.length });
      } catch (error) {
        if (!(error instanceof ExportRefused)) return RETRY_MS;
        report({ ...NO_OUTCOMES, failed: batch.length });
      }
      this.waiting.splice(0, batch.length);
    }
    return everyMs;
  }

  private readable(record: NonNullable<ReturnType<typeof lineRecord>>): ReadableLogRecord {
    return { ...record, ...this.origin, hrTimeObserved: record.hrTime, droppedAttributesCount: 0 };
  }
}

async function exporterFor(url: URL) {
  const { OTLPLogExporter } = await import('@opentelemetry/exporter-logs-otlp-proto');
  const { agentFor } = throughEgress(operatorEgress(settingsOfProcess(), url, CONNECTIONS));
  return new OTLPLogExporter({
    url: url.href,
    timeoutMillis: OTLP_TIMEOUTS.commandMs,
    httpAgentOptions: agentFor as never,
  });
}

const report = (outcomes: LogOutcomes): void => parentPort?.postMessage(outcomes);

const thread = LogExportThread.start(workerData as ThreadStart);
parentPort?.on('message', (text: string | null) => {
  void thread.then(async (running) => {
    if (text !== null) return running.take(text);
    await running.end();
    process.exit(0);
  });
});
