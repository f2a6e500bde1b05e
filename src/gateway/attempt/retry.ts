import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../common/errors/app-error.js';
import { isListed } from '../types/failure-statuses.js';
import type { RetryPlan } from '../types/plan.js';
import type { Reply } from '../types/reply.js';
import type { Attempt } from '../upstream/attempt.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import type { RetryBudget } from './retry-budget.js';
import { headerOf } from '../../common/http/raw-headers.js';

/** One more try if nothing was sent: a provider that is just restarting accepts connections again at once. */
const UNSENT_TRIES = 1;

/** Statuses of a provider that did not do the work. */
const REFUSED_WORK: ReadonlySet<number> = new Set([429, 503]);

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 16_000;
/** Maximum of all waits of one request for one target. A provider that requires a longer wait is given up. */
const WAITS_MS_MAX = 60_000;

export interface RetryPolicy {
  /** Retries after 429 and 503, as set by the caller. */
  readonly retries: number;
  /** The config's retry rule; null without one. */
  readonly plan: RetryPlan | null;
  /** Null when a request that was sent is not retried. */
  readonly budget: RetryBudget | null;
  /** The body can be sent again: it was kept, not streamed. */
  readonly isRepeatable: boolean;
  /** Reads a plain response to its end and returns its failure, or null for one that can be delivered. Null: bodies are not retried. */
  readonly bodyFailure: ((attempt: Attempt) => Promise<AppError | null>) | null;
  /** Whether the client is still connected. */
  readonly isWanted: () => boolean;
  /** Ends and records a try that is not the last. `error` is null if it received a response. */
  readonly onRetry: (sent: StartedAttempt, error: AppError | null) => Promise<void>;
}

/** The last try. */
export interface RetryResult {
  readonly sent: StartedAttempt;
  /** Null if it received a response. */
  readonly error: AppError | null;
  /** Retries were allowed, and all of them failed. */
  readonly isExhausted: boolean;
}

/**
 * The one retry rule: a request that was never sent, 429 or 503 if the caller set retries, and the failures that a config lists.
 *
 * Without a config, a request that may have reached the provider is not sent again, because it may have been processed and billed. Rejects
 * only when `start` does.
 */
export async function withRetries(
  start: () => StartedAttempt | Promise<StartedAttempt>,
  policy: RetryPolicy,
): Promise<RetryResult> {
  const schedule = new RetrySchedule(policy);
  for (;;) {
    const sent = await start();
    const { attempt } = sent;
    const reply = await outcomeOf(attempt, schedule.mayRetry ? policy.bodyFailure : null);
    const error = reply instanceof AppError ? reply : null;
    const pauseMs =
      reply instanceof AppError ? schedule.forFailed(attempt, reply) : schedule.forAnswered(reply);
    if (pauseMs === null) return { sent, error, isExhausted: error === null && schedule.isExhausted };
    await policy.onRetry(sent, error);
    if (pauseMs > 0) await delay(pauseMs);
    if (!policy.isWanted()) return { sent, error: clientLeft(), isExhausted: false };
  }
}

const clientLeft = (): AppError => new AppError('upstream_error', { detail: 'the client left' });

/** The response, or the error of an attempt without one. */
async function outcomeOf(
  attempt: Attempt,
  bodyFailure: RetryPolicy['bodyFailure'],
): Promise<Reply | AppError> {
  try {
    const reply = await attempt.reply;
    return (await bodyFailure?.(attempt)) ?? reply;
  } catch (error) {
    return AppError.from(error);
  }
}

/** The remaining retries of one request. */
class RetrySchedule {
  private unsentLeft = UNSENT_TRIES;
  private retriesLeft: number;
  private waitMs = FIRST_WAIT_MS;
  private waitedMs = 0;
  isExhausted = false;

  constructor(private readonly policy: RetryPolicy) {
    const { plan, retries, isRepeatable } = policy;
    this.retriesLeft = isRepeatable ? (plan?.attempts ?? retries) : 0;
  }

  get mayRetry(): boolean {
    return this.retriesLeft > 0;
  }

  /** How long to wait before a failed try is repeated, in milliseconds; null when it is not repeated. */
  forFailed(attempt: Attempt, error: AppError): number | null {
    if (!this.policy.isWanted()) return null;
    if (!attempt.wasSent && error.code === 'upstream_error' && this.unsentLeft-- > 0) return 0;
    const { plan } = this.policy;
    return plan && isListed(error, plan.onStatuses) ? this.spend(jittered(this.waitMs)) : null;
  }

  /** The same for a response. */
  forAnswered(reply: Reply): number | null {
    const { plan } = this.policy;
    if (!(plan?.onStatuses ?? REFUSED_WORK).has(reply.status)) return null;
    const asked = plan?.heedsProvider === false ? null : askedPause(reply);
    return this.spend(asked ?? jittered(this.waitMs));
  }

  private spend(pauseMs: number): number | null {
    const isAllowed = this.retriesLeft > 0 && this.waitedMs + pauseMs <= WAITS_MS_MAX;
    if (!isAllowed || this.policy.budget?.take() === false) {
      this.isExhausted = this.policy.isRepeatable && (this.policy.plan?.attempts ?? this.policy.retries) > 0;
      return null;
    }
    this.retriesLeft--;
    this.waitedMs += pauseMs;
    this.waitMs = Math.min(2 * this.waitMs, LONGEST_WAIT_MS);
    return pauseMs;
  }
}

/** Full jitter, so that clients of a recovering provider do not retry in step. */
function jittered(waitMs: number): number {
  return Math.random() * waitMs;
}

/** A number of seconds or milliseconds. Some providers send fractions, which the standard does not allow. */
const NUMBER = /^\d+(?:\.\d+)?$/;

/** An HTTP date has the names of a day and a month: without this check, `Date.parse` would read numbers as years. */
const DATE = /[a-z]{3}.*\d/i;

/**
 * The wait that the provider requires, in milliseconds: `retry-after-ms` or Azure's spelling of it, or `retry-after` in seconds or as a
 * date (https://www.rfc-editor.org/rfc/rfc9110#name-retry-after). Any other value counts as absent.
 */
function askedPause({ rawHeaders }: Reply): number | null {
  const after = headerOf(rawHeaders, 'retry-after')?.trim() ?? '';
  return (
    numberIn(headerOf(rawHeaders, 'retry-after-ms')) ??
    numberIn(headerOf(rawHeaders, 'x-ms-retry-after-ms')) ??
    scaled(numberIn(after), 1000) ??
    untilDate(after)
  );
}

function numberIn(value: string | null): number | null {
  const text = value?.trim() ?? '';
  return NUMBER.test(text) ? Number(text) : null;
}

const scaled = (value: number | null, factor: number): number | null => value && value * factor;

function untilDate(text: string): number | null {
  const pause = DATE.test(text) ? Date.parse(text) - Date.now() : NaN;
  return Number.isNaN(pause) ? null : Math.max(0, pause);
}
