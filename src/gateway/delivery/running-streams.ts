import { AppError } from '../../common/errors/app-error.js';
import { Roster } from '../../common/processes/roster.js';
import type { Cancellable, Exchange, RunningStream, StreamRegister } from '../recording/exchange.js';

/** How often running streams are checked. A revoked key ends a stream within this time plus that of the change notification. */
const CHECK_MS = 5_000;

/** Repeats the checks made before the stream began; throws or rejects with the reason to stop it. */
type StreamCheck = (exchange: Exchange) => unknown;

const STOPPING: ReadonlySet<number> = new Set([401, 403]);

/** Whether a response was stopped by us because its caller's access was withdrawn. */
export const stopsStreams = ({ spec }: AppError): boolean => STOPPING.has(spec.status);

/**
 * The event streams of this process: stops those whose key was revoked. Other responses are not in it. A stream costs one place in a
 * roster: one timer checks all of them.
 */
export class RunningStreams implements StreamRegister {
  private readonly running = new Roster<RunningStream>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly mayGoOn: StreamCheck,
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
