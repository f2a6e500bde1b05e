/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm. */
const SAME_WISH_MS = 1_000;

/**
 * Stop requests, from the signals of the process.
 *
 * SIGTERM (an orchestrator) waits until load balancers have noticed; SIGINT (Ctrl-C) and SIGHUP (terminal closed) do not. Any later signal
 * shortens the stop.
 */
export class StopRequests {
  readonly #abort = new AbortController();
  #immediate = false;
  #askedAt = 0;
  #onHurry: () => void = () => undefined;

  constructor(from: Pick<NodeJS.Process, 'on'> = process) {
    from.on('SIGTERM', () => this.#hear(false));
    from.on('SIGINT', () => this.#hear(true));
    from.on('SIGHUP', () => this.#hear(true));
  }

  /** Aborted by the first request. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether to leave out the delay for load balancers. */
  get immediate(): boolean {
    return this.#immediate;
  }

  /** Called on the second request. */
  set onHurry(hurry: () => void) {
    this.#onHurry = hurry;
  }

  /** Waits for the first request. */
  async requested(): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise<void>((resolve) => {
      this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  #hear(immediate: boolean): void {
    if (this.signal.aborted) {
      if (performance.now() - this.#askedAt > SAME_WISH_MS) this.#onHurry();
      return;
    }
    this.#askedAt = performance.now();
    this.#immediate = immediate;
    this.#abort.abort();
  }
}
