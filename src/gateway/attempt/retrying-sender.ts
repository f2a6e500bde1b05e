import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import { finishesWithoutClient } from '../planning/planner.js';
import type { AttemptReservation } from '../recording/attempt-reservation.js';
import { readerFor, UNREAD } from '../recording/metering.js';
import type { AttemptOptions } from '../routing/routing.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { CancelSignal } from '../types/cancellation.js';
import { ClientLeft } from '../types/client-left.js';
import type { Content } from '../types/content.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { Admission } from '../upstream/admission.js';
import type { SentAttempt } from '../upstream/sent-attempt.js';
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
  readonly content: Content;
  readonly wire: WireRequest;
  readonly trail: AttemptTrail;
}

/** The last try at a target. */
export interface SentRequest {
  /** Null if it was refused before it could begin. */
  readonly sent: SentAttempt | null;
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
    const { request, response, entry } = exchange;
    const mayRetry = isRetried(incoming, planned);
    const budget = mayRetry ? this.budgets.enter(incoming.caller, target, request.headers) : null;
    let retries = 0;
    let running: SentAttempt | null = null;
    const onLeft = (): void => running?.attempt.clientLeft();
    const start = (reservation: AttemptReservation): SentAttempt => {
      running = this.start(incoming, outgoing, { reservation, signal });
      discardWhenLost(running, trail, signal);
      onSent?.();
      return running;
    };
    response.on('close', onLeft);
    try {
      const { sent, error, isExhausted } = await withRetries(
        () => {
          const reserved = this.admission.reserve({ exchange, target, content, wire, option: planned.path });
          return reserved instanceof Promise ? reserved.then(start) : start(reserved);
        },
        {
          retries: entry.asked.retries,
          plan: planned.retry,
          budget,
          isRepeatable: read.isRepeatable,
          bodyFailure: mayRetry ? bodyFailureOf(planned, content) : null,
          isWanted: () => !response.destroyed && !signal?.isCancelled,
          onRetry: async ({ attempt, reservation }, failure) => {
            retries += 1;
            const reader = readerFor(entry.endpoint, content.json);
            const reading = failure ? UNREAD : await readDiscarded({ attempt, reservation }, reader);
            reservation.settleDiscarded(attempt, trail, { errorCode: failure && failure.code, reading });
          },
        },
      );
      return { sent, error, retries, isExhausted };
    } catch (error) {
      return { sent: null, error, retries, isExhausted: false };
    } finally {
      budget?.leave();
      response.off('close', onLeft);
    }
  }

  /** Starts a try, or returns its reservation. */
  private start(
    { exchange, caller }: IncomingRequest,
    { planned, target, wire }: OutgoingRequest,
    { reservation, signal }: StartingTry,
  ): SentAttempt {
    try {
      // Nothing is sent for a client that disconnected while the limit stores were called.
      if (reservation.hold && exchange.response.destroyed) throw new ClientLeft();
      if (signal?.isCancelled) throw lost();
      const limits = this.sender.limitsFor(planned.timeoutMs ?? exchange.entry.asked.timeoutMs);
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
  read.isRepeatable && (retry !== null || exchange.entry.asked.retries > 0);

/** Ends and records a try, running or with a response, when another target has won: its provider has started work, which is charged. */
function discardWhenLost(sent: SentAttempt, trail: AttemptTrail, signal: CancelSignal | null): void {
  const { attempt } = sent;
  signal?.onCancel(() => {
    const isCutOff = attempt.endedAt === null;
    attempt.cancel(lost());
    settleDiscarded(sent, trail, { errorCode: LOST, isCutOff });
  });
}

const lost = (): AppError => new AppError('upstream_error', { detail: 'another target was faster' });
