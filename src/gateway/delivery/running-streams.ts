import type { ServerResponse } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { Cancellable, Exchange, StreamRegister } from '../types/exchange.js';

/** How often it is asked whether a stream may go on. A revoked key ends it by then, and the time that the news takes. */
const CHECK_MS = 5_000;

/** Asks again what was asked before the stream began; throws or rejects with why it may not go on. */
type MayGoOn = (exchange: Exchange) => unknown;

const STOPPING: ReadonlySet<number> = new Set([401, 403]);

/** Whether an answer that broke off was stopped by us, because its caller may not go on. */
export const stopsStreams = ({ spec }: AppError): boolean => STOPPING.has(spec.status);

interface Running {
  readonly exchange: Exchange;
  readonly attempt: Cancellable;
  isBeingChecked: boolean;
}

/**
 * The event streams of this process: stops those whose key was revoked. Answers that are no streams are never in it, and
 * a stream costs its place in a map: one timer asks for all of them.
 */
export class RunningStreams implements StreamRegister {
  private readonly running = new Map<ServerResponse, Running>();
  private readonly onClose: (this: ServerResponse) => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly mayGoOn: MayGoOn,
    private readonly checkMs = CHECK_MS,
  ) {
    const { running } = this;
    // One listener for all of them: nothing of an exchange hangs on its connection when it is over.
    this.onClose = function (this: ServerResponse) {
      running.delete(this);
    };
  }

  add(exchange: Exchange, attempt: Cancellable): void {
    const { response } = exchange;
    if (response.destroyed) return;
    this.running.set(response, { exchange, attempt, isBeingChecked: false });
    response.once('close', this.onClose);
    this.timer ??= setInterval(() => this.check(), this.checkMs).unref();
  }

  private check(): void {
    if (this.running.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    for (const running of [...this.running.values()]) if (!running.isBeingChecked) void this.ask(running);
  }

  /** A store that is away says nothing of the key: the stream goes on. */
  private async ask(running: Running): Promise<void> {
    running.isBeingChecked = true;
    try {
      await this.mayGoOn(running.exchange);
    } catch (thrown) {
      const error = AppError.from(thrown);
      if (stopsStreams(error)) running.attempt.cancel(error);
    } finally {
      running.isBeingChecked = false;
    }
  }
}
