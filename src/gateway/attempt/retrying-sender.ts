import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import { finishesWithoutClient } from '../planning/planner.js';
import type { AttemptReservation } from '../recording/attempt-reservation.js';
import { readerFor, UNREAD } from '../recording/reading.js';
import type { AttemptOptions } from '../routing/routing.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { CancelSignal } from '../types/cancellation.js';
import { ClientLeft } from '../types/client-left.js';
import type { RequestContent } from '../types/content.js';
import { type ExchangeFacts, isLimited } from '../types/exchange-facts.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { Admission } from '../upstream/admission.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import { Sender } from '../upstream/sender.js';
import type { WireRequest } from '../upstream/wire.js';
import { readDiscarded, settleDiscarded } from './discard.js';
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
  readonly content: RequestContent;
  readonly wire: WireRequest;
  readonly trail: AttemptTrail;
}

/** The last try at a target. */
export interface SentRequest {
  /** Null if it was refused before it could begin. */
  readonly sent: StartedAttempt | null;
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
    const { exchange, caller, read } = incoming;
    const { planned, target, content, trail } = outgoing;
    const { request, facts } = exchange;
    const mayRetry = isRetried(incoming, planned);
    const budget = mayRetry ? this.budgets.enter(caller, target, request.headers) : null;
    let retries = 0;
    let running: StartedAttempt | null = null;
    const onLeft = (): void => running?.attempt.clientLeft();
    const start = (reservation: AttemptReservation): StartedAttempt => {
      running = this.start(incoming, outgoing, { reservation, signal });
      discardWhenLost(running, trail, signal);
      onSent?.();
      return running;
    };
    exchange.signal.onCancel(onLeft);
    try {
      const { sent, error, isExhausted } = await withRetries(
        () => mapMaybePromise(this.reserve(incoming, outgoing), start),
        {
          retries: facts.options.retries,
          plan: planned.retry,
          budget,
          isRepeatable: read.isRepeatable,
          bodyFailure: mayRetry ? bodyFailureOf(planned, content) : null,
          isWanted: () => !exchange.signal.isCancelled && !signal?.isCancelled,
          onRetry: (tried, failure) => {
            retries += 1;
            return discardRetried(tried, failure, { facts, content, trail });
          },
        },
      );
      return { sent, error, retries, isExhausted };
    } catch (error) {
      return { sent: null, error, retries, isExhausted: false };
    } finally {
      budget?.leave();
      exchange.signal.offCancel(onLeft);
    }
  }

  /** The reservation of a try, from the limits that apply to it. */
  private reserve(
    { exchange, caller }: IncomingRequest,
    { planned: { path: option }, target, content, wire }: OutgoingRequest,
  ): AttemptReservation | Promise<AttemptReservation> {
    if (isLimited(caller, target))
      return this.admission.reserve({ exchange, caller, target, content, wire, option });
    const { model } = content;
    return exchange.recorder.reserve({ exchange, target, option, model, limits: null, estimate: null });
  }

  /** Starts a try, or returns its reservation. */
  private start(
    { exchange, caller }: IncomingRequest,
    { planned, target, wire }: OutgoingRequest,
    { reservation, signal }: StartingTry,
  ): StartedAttempt {
    try {
      // Nothing is sent for a client that disconnected while the limit stores were called.
      if (reservation.hold && exchange.signal.isCancelled) throw new ClientLeft();
      if (signal?.isCancelled) throw lost();
      const limits = this.sender.limitsFor(planned.timeoutMs ?? exchange.facts.options.timeoutMs);
      const finishes = finishesWithoutClient(planned, target, caller);
      const attempt = this.sender.start(
        caller.workspaceId ?? '',
        target,
        wire,
        finishes ? { ...limits, finishes } : limits,
      );
      return { attempt, reservation, cacheFill: wire.cacheFill ?? null };
    } catch (error) {
      reservation.release();
      throw error;
    }
  }
}

/** A try that is about to be sent. */
interface StartingTry extends Pick<SendOptions, 'signal'> {
  readonly reservation: AttemptReservation;
}

const isRetried = ({ exchange, read }: IncomingRequest, { retry }: PlannedTarget): boolean =>
  read.isRepeatable && (retry !== null || exchange.facts.options.retries > 0);

interface RetriedRequest extends Pick<OutgoingRequest, 'content' | 'trail'> {
  readonly facts: ExchangeFacts;
}

/** Ends and records a try that is not the last. */
async function discardRetried(
  { attempt, reservation }: StartedAttempt,
  failure: AppError | null,
  { facts, content, trail }: RetriedRequest,
): Promise<void> {
  const reader = readerFor(facts.endpoint, content.json);
  const reading = failure ? UNREAD : await readDiscarded({ attempt, reservation }, reader);
  reservation.settleDiscarded(attempt, trail, { errorCode: failure && failure.code, reading });
}

/** Ends and records a try, running or with a response, when another target has won: its provider has started work, which is charged. */
function discardWhenLost(sent: StartedAttempt, trail: AttemptTrail, signal: CancelSignal | null): void {
  const { attempt } = sent;
  signal?.onCancel(() => {
    const isCutOff = attempt.endedAt === null;
    attempt.cancel(lost());
    settleDiscarded(sent, trail, { errorCode: LOST, isCutOff });
  });
}

const lost = (): AppError => new AppError('upstream_error', { detail: 'another target was faster' });
