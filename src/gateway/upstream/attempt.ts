import type { Duplex } from 'node:stream';
import { upstreamFailure } from '../../egress/upstream-failure.js';
import { InvalidRequestError } from '../../egress/http1/http1-error.js';
import { AppError } from '../../common/errors/app-error.js';
import type { UpstreamTimeouts } from '../../common/settings/settings.js';
import type { RecordedTry } from '../types/attempt-outcome.js';
import type { Reply, ReplySink } from '../types/reply.js';
import { recordedHandler } from './recorded-handler.js';
import type { Wire, WireHandler, WireRequest } from './wire.js';
import { setTimeout as delay } from 'node:timers/promises';
import { Roster, type RosterMember } from '../../common/processes/roster.js';

/** How long a response is still read after its client disconnected, so that the usage sent by then is counted. */
const READ_ON_MS = 50;

export interface AttemptLimits extends UpstreamTimeouts {
  /** The caller set the time to the first byte itself, so exceeding it is a 408 and not a 504. */
  readonly setByCaller: boolean;
  /** The response is read to the end even if the client disconnects. */
  readonly finishes?: boolean;
}

/**
 * One try at one target.
 *
 * `reply` settles when the head of the response has arrived, or rejects with our error when none did. From the head on, bytes flow to the
 * attached sink; exactly one of `onEnd` and `onFail` ends it.
 */
export class Attempt implements WireHandler, WatchedAttempt, Reply, RecordedTry {
  readonly startedAt = performance.now();
  readonly startedAtEpoch = Date.now();
  lastActivityAt = this.startedAt;
  place = -1;
  hasFirstByte = false;
  firstByteAt: number | null = null;
  endedAt: number | null = null;
  /** The connection was open and the request began to be sent: it must not be sent a second time. */
  wasSent = false;
  /** Its client disconnected before its response was complete. */
  wasLeft = false;
  /** A cache hit: no provider was called. */
  isReplayed = false;
  /** It was given up after one of its timeouts. */
  hasTimedOut = false;
  status = 0;
  statusText = '';
  rawHeaders: readonly string[] = [];
  /** The socket after a protocol upgrade; the attempt no longer owns it. */
  socket: Duplex | null = null;

  readonly reply: Promise<Reply>;
  private answer!: (reply: Reply) => void;
  private refuse!: (error: AppError) => void;

  private sink: ReplySink | null = null;
  private early: Buffer[] = [];
  private abort: ((reason?: Error) => void) | null = null;
  private resumeWire: (() => void) | null = null;
  private failure: AppError | null = null;
  private hasEnded = false;

  constructor(readonly limits: AttemptLimits) {
    this.reply = new Promise((resolve, reject) => {
      this.answer = resolve;
      this.refuse = reject;
    });
  }

  /** Its response was complete. */
  get isWhole(): boolean {
    return this.hasEnded && this.failure === null;
  }

  /** Does nothing when the attempt was cancelled before it could begin. */
  send(wire: Wire, request: WireRequest): this {
    if (this.hasEnded) return this;
    this.isReplayed = request.stored !== undefined;
    watch(this);
    try {
      wire.dispatch(request, request.cacheFill ? recordedHandler(this, request.cacheFill) : this);
    } catch (error) {
      this.onError(error as Error);
    }
    return this;
  }

  attach(sink: ReplySink): void {
    this.sink = sink;
    const early = this.early;
    this.early = [];
    let wantsMore = true;
    for (const chunk of early) wantsMore = sink.onChunk(chunk) && wantsMore;
    if (this.hasEnded) this.finish();
    else if (wantsMore) this.resumeWire?.();
  }

  /** Puts back the bytes that a sink has taken, for the next one. Until that is attached, the provider waits. */
  detach(taken: Buffer[]): void {
    this.sink = null;
    this.early = taken;
  }

  resume(): void {
    this.lastActivityAt = performance.now();
    this.resumeWire?.();
  }

  cancel(reason: AppError = new AppError('upstream_error', { detail: 'the request was cancelled' })): void {
    if (this.hasEnded) return;
    if (this.abort) this.abort(reason);
    else this.onError(reason);
  }

  /**
   * The client disconnected. An attempt that finishes goes on; another one ends once the bytes already sent by the provider are read. Its
   * sink, if any, must take everything from now on.
   */
  clientLeft(): void {
    if (this.hasEnded) return;
    this.wasLeft = true;
    if (this.hasFirstByte) this.resume();
    if (this.limits.finishes) return;
    // On a busy process the timer is late, and bytes received meanwhile are read only after timers have run.
    if (this.hasFirstByte) setTimeout(() => setImmediate(() => this.cancel()), READ_ON_MS).unref();
    else this.cancel();
  }

  onDeadline(phase: Phase, timeoutMs: number): void {
    this.hasTimedOut = true;
    const code = phase === 'first byte' && this.limits.setByCaller ? 'request_timeout' : 'upstream_timeout';
    this.cancel(new AppError(code, { phase, timeoutMs }));
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.hasEnded) return abort();
    this.abort = abort;
    this.wasSent = true;
  }

  onHeaders(status: number, rawHeaders: readonly string[], resume: () => void, statusText: string): boolean {
    this.statusText = statusText;
    this.resumeWire = resume;
    this.begin(status, rawHeaders);
    return true;
  }

  onUpgrade(status: number, rawHeaders: readonly string[], socket: Duplex): void {
    if (this.hasEnded) {
      socket.destroy();
      return;
    }
    this.socket = socket;
    this.begin(status, rawHeaders);
    this.over(null);
  }

  onData(chunk: Buffer): boolean {
    this.lastActivityAt = performance.now();
    if (this.sink) return this.sink.onChunk(chunk);
    this.early.push(chunk);
    return false;
  }

  onComplete(): void {
    this.over(null);
  }

  onError(error: Error): void {
    this.over(failureOf(error));
  }

  private begin(status: number, rawHeaders: readonly string[]): void {
    const now = performance.now();
    this.hasFirstByte = true;
    this.firstByteAt = now;
    this.lastActivityAt = now;
    this.status = status;
    this.rawHeaders = rawHeaders;
    this.answer(this);
  }

  private over(failure: AppError | null): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.endedAt = performance.now();
    this.failure = failure;
    unwatch(this);
    if (failure && !this.hasFirstByte) this.refuse(failure);
    else if (this.sink) this.finish();
  }

  /** Drops all references: undici keeps its last handler until the next request, and with it everything it references. */
  private finish(): void {
    const { sink } = this;
    this.sink = null;
    this.abort = null;
    this.resumeWire = null;
    if (this.failure) sink?.onFail(this.failure);
    else sink?.onEnd();
  }
}

/** undici's error code for a request that it refuses to send. The message is `invalid <name> header`. */
const INVALID_ARGUMENT = 'UND_ERR_INVALID_ARG';
const HEADER_IN_MESSAGE = /invalid (\S+) header/;

/** A header that the HTTP client refuses to send is the caller's mistake; everything else is the provider's failure. */
function failureOf(error: Error & { code?: string }): AppError {
  if (error instanceof InvalidRequestError) return headerInvalid(error.header, error);
  if (error.code === INVALID_ARGUMENT)
    return headerInvalid(HEADER_IN_MESSAGE.exec(error.message)?.[1] ?? null, error);
  return upstreamFailure(error);
}

function headerInvalid(header: string | null, cause: Error): AppError {
  return new AppError(
    'header_invalid',
    { header: header ?? 'of the request', detail: 'it cannot be sent on' },
    { cause },
  );
}

/** The timeout that an attempt exceeded. */
export type Phase = 'first byte' | 'idle' | 'total';

/** How often running attempts are checked. A timeout is late by this much at most. */
const TICK_MS = 20;

/**
 * The clock of one attempt. The attempt advances it with plain assignments; no timer is set or cleared per chunk, because one timer checks
 * all running attempts.
 */
export interface WatchedAttempt extends RosterMember {
  readonly startedAt: number;
  /** When the last byte arrived or the client took the last chunk; changes only after the first byte. */
  lastActivityAt: number;
  hasFirstByte: boolean;
  readonly limits: Pick<UpstreamTimeouts, 'firstByteMs' | 'idleMs' | 'totalMs'>;
  onDeadline(phase: Phase, timeoutMs: number): void;
}

const watched = new Roster<WatchedAttempt>();
let timer: NodeJS.Timeout | undefined;

/** Resolves when no attempt is running, and after `withinMs` at the latest. */
export async function attemptsEnded(withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (watched.size > 0 && performance.now() < end) await delay(TICK_MS);
}

export function watch(attempt: WatchedAttempt): void {
  watched.add(attempt);
  timer ??= setInterval(look, TICK_MS);
}

export function unwatch(attempt: WatchedAttempt): void {
  watched.delete(attempt);
  if (watched.size > 0 || !timer) return;
  clearInterval(timer);
  timer = undefined;
}

function look(): void {
  const now = performance.now();
  for (const attempt of watched.all()) {
    const passed = passedDeadline(attempt, now);
    if (!passed) continue;
    watched.delete(attempt);
    attempt.onDeadline(passed, limitOf(attempt, passed));
  }
}

function passedDeadline(
  { startedAt, lastActivityAt, hasFirstByte, limits }: WatchedAttempt,
  now: number,
): Phase | null {
  if (now - startedAt >= limits.totalMs) return 'total';
  if (!hasFirstByte) return now - startedAt >= limits.firstByteMs ? 'first byte' : null;
  return now - lastActivityAt >= limits.idleMs ? 'idle' : null;
}

function limitOf({ limits }: WatchedAttempt, phase: Phase): number {
  return { 'first byte': limits.firstByteMs, idle: limits.idleMs, total: limits.totalMs }[phase];
}
