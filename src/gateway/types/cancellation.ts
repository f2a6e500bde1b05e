/**
 * Reports that a result is no longer needed. It has the role of `AbortSignal`, which is too expensive for each request: on Node 20, one
 * signal with a listener takes 4 µs.
 */
export interface CancelSignal {
  readonly isCancelled: boolean;
  /** Calls back once, when the signal is cancelled: at once if it already is. */
  onCancel(listener: () => void): void;
}

/** Cancels its signal. */
export class Cancellation implements CancelSignal {
  isCancelled = false;
  private listeners: (() => void)[] = [];

  cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  onCancel(listener: () => void): void {
    if (this.isCancelled) listener();
    else this.listeners.push(listener);
  }
}
