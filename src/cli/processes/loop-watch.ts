import type { ChildMessage, StalledLoop } from '../../common/processes/ipc.js';
import type { KeptProcess } from './kept-process.js';

const TELL_EVERY_MS = 5_000;
/** A process without reports for this long is stalled: it hangs, or does not come up. */
const SILENT_AFTER_MS = 60_000;

interface Report {
  readonly at: number;
  readonly stalled: readonly StalledLoop[];
}

/**
 * Collects each process's reports on its background loops and passes them to all others: any process's readiness then shows that, for
 * example, the worker's shipper is stalled.
 */
export class LoopWatch {
  private readonly reports = new Map<KeptProcess, Report>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly everyone: () => readonly KeptProcess[],
    private readonly now: () => number = () => performance.now(),
  ) {}

  start(): void {
    for (const kept of this.everyone()) this.reports.set(kept, { at: this.now(), stalled: [] });
    this.timer = setInterval(() => this.tell(), TELL_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  receive(message: ChildMessage, from: KeptProcess): void {
    if (message.type === 'loops') this.reports.set(from, { at: this.now(), stalled: message.stalled });
  }

  /** One round of messages. Each process receives the reports of the others. */
  tell(): void {
    for (const kept of this.everyone()) kept.tell({ type: 'loops', stalled: this.besides(kept) });
  }

  private besides(receiver: KeptProcess): StalledLoop[] {
    const now = this.now();
    return [...this.reports].flatMap(([kept, { at, stalled }]) => {
      if (kept === receiver) return [];
      if (now - at > SILENT_AFTER_MS)
        return [{ loop: 'process', process: kept.name, seconds: Math.round((now - at) / 1000) }];
      return stalled.map((each) => ({ ...each, process: kept.name }));
    });
  }
}
