import { AppError } from '../../common/errors/app-error.js';
import { Roster } from '../../common/processes/roster.js';
import type { Cancellable, Exchange, RunningStream, StreamRegister } from '../recording/exchange.js';

/** How often it is asked whether a stream may go on. A revoked key ends it by then, and the time that the news takes. */
const CHECK_MS = 5_000;

/** Asks again what was asked before the stream began; throws or rejects with why it may not go on. */
type MayGoOn = (exchange: Exchange) => unknown;

const STOPPING: ReadonlySet<number> = new Set([401, 403]);

/** Whether an answer that broke off was stopped by us, because its caller may not go on. */
export const stopsStreams = ({ spec }: AppError): boolean => STOPPING.has(spec.status);

/**
 * The event streams of this process: stops those whose key was revoked. Answers that are no streams are never in it, and
 * a stream costs its place in a roster: one timer asks for all of them.
 */
export class RunningStreams implements StreamRegister {
  private readonly running = new Roster<RunningStream>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly mayGoOn: MayGoOn,
    private readonly checkMs = CHECK_MS,
  ) {}

  add(exchange: Exchange, attempt: Cancellable): RunningStream {
    const stream = { place: -1, exchange, attempt, isBeingChecked: false };
    this.running.add(stream);
    this.timer ??= setInterval(() => this.check(), this.checkMs).unref();
    return stream;
  }

  delete(stream: RunningStream): void {
    this.running.delete(stream);
  }

  private check(): void {
    if (this.running.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
      return;
    }
    for (const running of this.running.all()) if (!running.isBeingChecked) void this.ask(running);
  }

  /** An unavailable store says nothing about the key: the stream goes on. */
  private async ask(running: RunningStream): Promise<void> {
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
