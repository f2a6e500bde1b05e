/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm. */
const SAME_REQUEST_MS = 1_000;

/**
 * Stop requests, from the signals of the process.
 *
 * SIGTERM (an orchestrator) waits until load balancers have noticed; SIGINT (Ctrl-C) and SIGHUP (terminal closed) do not. Any later signal
 * shortens the stop.
 */
export class StopRequests {
  private readonly abort = new AbortController();
  private isImmediate = false;
  private askedAt = 0;
  private hurryListener: () => void = () => undefined;

  constructor(from: Pick<NodeJS.Process, 'on'> = process) {
    from.on('SIGTERM', () => this.receive(false));
    from.on('SIGINT', () => this.receive(true));
    from.on('SIGHUP', () => this.receive(true));
  }

  /** Aborted by the first request. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Whether to leave out the delay for load balancers. */
  get immediate(): boolean {
    return this.isImmediate;
  }

  /** Called on the second request. */
  set onHurry(hurry: () => void) {
    this.hurryListener = hurry;
  }

  /** Waits for the first request. */
  async requested(): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  private receive(immediate: boolean): void {
    if (this.signal.aborted) {
      if (performance.now() - this.askedAt > SAME_REQUEST_MS) this.hurryListener();
      return;
    }
    this.askedAt = performance.now();
    this.isImmediate = immediate;
    this.abort.abort();
  }
}
