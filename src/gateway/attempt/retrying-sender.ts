import { Injectable } from '@nestjs/common';
import { Admission } from '../upstream/admission.js';
import { finishesWithoutClient } from '../planning/planner.js';
import type { Content } from '../types/content.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { Sender } from '../upstream/sender.js';
import type { WireRequest } from '../upstream/wire.js';
import { readerFor } from '../recording/metering.js';
import { readDiscarded } from './give-up.js';
import { RetryBudgets } from './retry-budget.js';
import { withRetries } from './retry.js';
import { bodyFailureOf } from './whole-body.js';
import type { SendableRequest } from './sending.js';

/** The request as one target receives it. */
export interface OutgoingRequest {
  readonly target: Target;
  readonly content: Content;
  readonly wire: WireRequest;
}

/** Sends a request to one target as often as its retry rule allows, each try within the caller's limits. */
@Injectable()
export class RetryingSender {
  private readonly budgets = new RetryBudgets();

  constructor(
    private readonly sender: Sender,
    private readonly admission: Admission,
  ) {}

  /**
   * Resolves with the try that received a response. If the client disconnects meanwhile, the running try is cancelled, unless it is set to
   * finish.
   */
  async send(sending: SendableRequest, planned: PlannedTarget, outgoing: OutgoingRequest): Promise<Attempt> {
    const { exchange, caller, read, trail } = sending;
    const { target, content, wire } = outgoing;
    const { request, response, entry } = exchange;
    const mayRetry = read.isRepeatable && (planned.retry !== null || entry.asked.retries > 0);
    const budget = mayRetry ? this.budgets.enter(caller, target, request.headers) : null;
    let running: Attempt | null = null;
    const onLeft = (): void => running?.clientLeft();
    const start = (): Attempt => (running = this.start(sending, planned, outgoing));
    response.on('close', onLeft);
    try {
      const { attempt, isExhausted } = await withRetries(
        () => this.admission.begin({ exchange, target, content, wire, option: planned.path }, start),
        {
          retries: entry.asked.retries,
          plan: planned.retry,
          budget,
          isRepeatable: read.isRepeatable,
          bodyFailure: mayRetry ? bodyFailureOf(planned, content) : null,
          isWanted: () => !response.destroyed && !sending.isOver,
          readDiscarded: (attempt) => readDiscarded(attempt, readerFor(entry.endpoint, content.json)),
          onGivenUp: (given, errorCode) => {
            sending.gaveUp();
            trail.retried();
            entry.addDiscarded(given, { target, trail }, { errorCode });
          },
        },
      );
      trail.retriesEnded(isExhausted);
      return attempt;
    } catch (error) {
      wire.lead?.close();
      throw error;
    } finally {
      budget?.leave();
      response.off('close', onLeft);
    }
  }

  private start(
    sending: SendableRequest,
    planned: PlannedTarget,
    { target, content, wire }: OutgoingRequest,
  ): Attempt {
    const { exchange, caller } = sending;
    sending.checkWanted();
    const limits = this.sender.limitsFor(planned.timeoutMs ?? exchange.entry.asked.timeoutMs);
    const attempt = this.sender.start(caller.workspaceId ?? '', target, wire, limits);
    attempt.target = target;
    attempt.option = planned.path;
    attempt.model = content.model;
    attempt.finishes = finishesWithoutClient(planned, target, caller);
    sending.began(attempt);
    return attempt;
  }
}
