import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { copyLinesTo } from '../common/observability/log-output.js';
import type { LogExportSettings } from '../common/settings/otel-settings.js';
import type { Settings } from '../common/settings/settings.js';

/** How the thread is started. */
export interface ThreadStart extends Omit<LogExportSettings, 'url'> {
  readonly url: string;
  readonly trustsClients: boolean;
}

/** What the thread did since its last report. */
export interface LogOutcomes {
  /** Characters of the lines that it took. */
  readonly taken: number;
  /** Lines that the collector accepted. */
  readonly sent: number;
  /** Lines for which there was no room. */
  readonly dropped: number;
  /** Lines that the collector refused. */
  readonly failed: number;
}

export type LogOutcome = Exclude<keyof LogOutcomes, 'taken'>;
type Count = (outcome: LogOutcome, lines: number) => void;

const GATHERING_MS = 200;
/** Lines that the thread has not taken yet. Beyond, they are dropped. */
const WAITING_CHARS_MAX = 4 * 1024 * 1024;
const HEAP_MB = 64;
const END_MS = 3_000;
const OUTCOMES = ['sent', 'dropped', 'failed'] as const;

let running: LogLineExport | null = null;

/**
 * Sends the log lines of this process to the collector, from now on. Does nothing without one. `count` receives how many lines were sent,
 * dropped and refused.
 */
export function startLogExport(
  { telemetry }: Pick<Settings, 'telemetry'>,
  count: Count = () => undefined,
): void {
  const { logs, spans } = telemetry;
  if (logs === null) return;
  running = new LogLineExport({ ...logs, url: logs.url.href, trustsClients: spans.trustsClients }, count);
  copyLinesTo(running);
}

/** Sends the last lines, for a few seconds at most. Call before the process exits. */
export async function endLogExport(): Promise<void> {
  await running?.end();
}

/** Hands lines to the thread, in batches. Costs a line the push into a list. */
class LogLineExport {
  private lines: string[] = [];
  private waitingChars = 0;
  private timer: NodeJS.Timeout | null = null;
  private worker: Worker | null = null;

  constructor(
    private readonly start: ThreadStart,
    private readonly count: Count,
  ) {}

  write(line: string): void {
    if (this.waitingChars + line.length > WAITING_CHARS_MAX) return this.count('dropped', 1);
    this.waitingChars += line.length;
    this.lines.push(line);
    this.timer ??= setTimeout(() => this.hand(), GATHERING_MS).unref();
  }

  async end(): Promise<void> {
    this.hand();
    const { worker } = this;
    if (worker === null) return;
    this.worker = null;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage(null);
    await Promise.race([ended, delay(END_MS, undefined, { ref: false })]);
    await worker.terminate();
  }

  private hand(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.lines.length === 0) return;
    const text = this.lines.join('');
    this.lines = [];
    (this.worker ??= this.open()).postMessage(text);
  }

  private open(): Worker {
    const worker = new Worker(new URL('./log-export-thread.js', import.meta.url), {
      workerData: this.start,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.on('message', (outcomes: LogOutcomes) => {
      this.waitingChars = Math.max(0, this.waitingChars - outcomes.taken);
      for (const outcome of OUTCOMES) if (outcomes[outcome] > 0) this.count(outcome, outcomes[outcome]);
    });
    worker.on('error', () => this.lost(worker));
    worker.on('exit', () => this.lost(worker));
    worker.unref();
    return worker;
  }

  /** The next lines start a new thread. */
  private lost(worker: Worker): void {
    if (this.worker !== worker) return;
    this.worker = null;
    this.waitingChars = this.lines.reduce((sum, line) => sum + line.length, 0);
  }
}
