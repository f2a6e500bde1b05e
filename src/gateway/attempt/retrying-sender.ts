import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import { finishesWithoutClient } from '../planning/planner.js';
import type { Entry } from '../recording/entry.js';
import { readerFor } from '../recording/metering.js';
import type { AttemptOptions } from '../routing/routing.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { CancelSignal } from '../types/cancellation.js';
import type { Content } from '../types/content.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { Admission } from '../upstream/admission.js';
import type { Attempt } from '../upstream/attempt.js';
import { FailedAttempt } from '../upstream/failed-attempt.js';
import { Sender } from '../upstream/sender.js';
import type { WireRequest } from '../upstream/wire.js';
import { readDiscarded } from './discard.js';
import type { IncomingRequest } from './incoming-request.js';
import { RetryBudgets } from './retry-budget.js';
import { withRetries } from './retry.js';
import { bodyFailureOf } from './whole-body.js';

/** The error code in the log for a try that ended because another target was faster. */
const LOST = 'hedge_lost';

/** The request as one target receives it. */
export interface OutgoingRequest {
  readonly planned: PlannedTarget;
  readonly target: Target;
  readonly content: Content;
  readonly wire: WireRequest;
  readonly trail: AttemptTrail;
}

/** The last try at a target. */
export interface SentRequest {
  /** Null if it was refused before it could begin. */
  readonly attempt: Attempt | null;
  /** An AppError, `ClientLeft` or an unexpected error; null if the try received a response. */
  readonly error: unknown;
  /** Failed tries before it. */
  readonly retries: number;
  /** Retries were allowed, and all of them failed. */
  readonly isExhausted: boolean;
}

type SendOptions = Pick<AttemptOptions, 'signal' | 'onSent'>;

/** Sends a request to one target as often as its retry rule allows, each try within the caller's limits. */
@Injectable()
export class RetryingSender {
  private readonly budgets = new RetryBudgets();

  constructor(
    private readonly sender: Sender,
    private readonly admission: Admission,
  ) {}

  /**
   * Resolves with the last try. If the client disconnects meanwhile, the running try is cancelled, unless it is set to finish. Never
   * rejects.
   */
  async send(
    incoming: IncomingRequest,
    outgoing: OutgoingRequest,
    { signal, onSent }: SendOptions,
  ): Promise<SentRequest> {
    const { exchange, read } = incoming;
    const { planned, target, content, wire, trail } = outgoing;
    const { request, entry } = exchange;
    const mayRetry = isRetried(incoming, planned);
    const budget = mayRetry ? this.budgets.enter(incoming.caller, target, request.headers) : null;
    const place = { target, trail };
    let retries = 0;
    let running: Attempt | null = null;
    const onLeft = (): void => running?.clientLeft();
    const start = (): Attempt => {
      if (signal?.isCancelled) throw lost();
      running = this.start(incoming, outgoing);
      endWhenLost(running, { entry, place, signal });
      onSent?.();
      return running;
    };
    exchange.signal.onCancel(onLeft);
    try {
      const { attempt, isExhausted } = await withRetries(
        () => this.admission.begin({ exchange, target, content, wire, option: planned.path }, start),
        {
          retries: entry.asked.retries,
          plan: planned.retry,
          budget,
          isRepeatable: read.isRepeatable,
          bodyFailure: mayRetry ? bodyFailureOf(planned, content) : null,
          isWanted: () => !exchange.signal.isCancelled && !signal?.isCancelled,
          readDiscarded: (attempt) => readDiscarded(attempt, readerFor(entry.endpoint, content.json)),
          onGivenUp: (given, errorCode) => {
            retries += 1;
            entry.addDiscarded(given, place, { errorCode });
          },
        },
      );
      return { attempt, error: null, retries, isExhausted };
    } catch (error) {
      wire.lead?.close();
      return { ...lastTryOf(error), retries, isExhausted: false };
    } finally {
      budget?.leave();
      exchange.signal.offCancel(onLeft);
    }
  }

  private start({ exchange, caller }: IncomingRequest, outgoing: OutgoingRequest): Attempt {
    const { planned, target, content, wire } = outgoing;
    const limits = this.sender.limitsFor(planned.timeoutMs ?? exchange.entry.asked.timeoutMs);
    const attempt = this.sender.start(caller.workspaceId ?? '', target, wire, limits);
    attempt.target = target;
    attempt.option = planned.path;
    attempt.model = content.model;
    attempt.finishes = finishesWithoutClient(planned, target, caller);
    return attempt;
  }
}

function lastTryOf(error: unknown): Pick<SentRequest, 'attempt' | 'error'> {
  return error instanceof FailedAttempt
    ? { attempt: error.attempt, error: error.error }
    : { attempt: null, error };
}

const isRetried = ({ exchange, read }: IncomingRequest, { retry }: PlannedTarget): boolean =>
  read.isRepeatable && (retry !== null || exchange.entry.asked.retries > 0);

interface RacedTry {
  readonly entry: Entry;
  readonly place: { readonly target: Target; readonly trail: AttemptTrail };
  readonly signal: CancelSignal | null;
}

/** Ends and records a try, running or with a response, when another target has won: its provider has started work, which is charged. */
function endWhenLost(attempt: Attempt, { entry, place, signal }: RacedTry): void {
  signal?.onCancel(() => {
    // It was recorded before.
    if (!attempt.target) return;
    const isCutOff = attempt.endedAt === null;
    attempt.recording?.drop();
    attempt.cancel(lost());
    entry.addDiscarded(attempt, place, { errorCode: LOST, isCutOff });
  });
}

const lost = (): AppError => new AppError('upstream_error', { detail: 'another target was faster' });
