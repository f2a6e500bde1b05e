import type { RoutedRequest } from '../../common/contracts/routing-config/conditions.js';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { Json } from '../../providers/endpoint.js';
import type { ReadRequest } from '../types/content.js';
import { changedContent } from '../planning/changed-content.js';
import { checkPolicy } from '../planning/check-policy.js';
import { Planner } from '../planning/planner.js';
import { outgoing } from '../translating/outgoing.js';
import type { Answer } from '../types/answer.js';
import type { Exchange } from '../types/exchange.js';
import type { Plan, PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { discard, FailedAttempt, withRetries } from '../upstream/retry.js';
import { RetryBudgets } from '../upstream/retry-budget.js';
import { Sender } from '../upstream/sender.js';
import type { WireRequest } from '../upstream/wire.js';
import { Breakers } from './breakers.js';
import { proven } from './proven.js';
import { type Outcome, route, settle, unwrap, type Walk } from './route.js';

/** A request that is ready to be sent. */
export interface Sending {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly read: ReadRequest;
}

/** Sends a request along a plan until an answer stands. */
@Injectable()
export class Dispatcher {
  private readonly budgets = new RetryBudgets();

  constructor(
    private readonly planner: Planner,
    private readonly sender: Sender,
    private readonly breakers: Breakers,
  ) {}

  /** Rejects with the FailedAttempt of the last target, or with the AppError that refused it. */
  dispatch(sending: Sending, plan: Plan): Promise<Answer> {
    return plan.kind === 'target' ? this.attempt(sending, plan) : route(plan, this.walk(sending));
  }

  /** One target of several: its breaker hears what became of it, and an answer may have to prove itself first. */
  private async tryOut(sending: Sending, planned: PlannedTarget, holdMs: number): Promise<Answer> {
    const { response, entry } = sending.exchange;
    this.breakers.began(planned);
    const pending = this.attempt(sending, planned);
    const outcome = await settle(holdMs > 0 ? pending.then((answer) => proven(answer, entry, holdMs, response)) : pending);
    this.breakers.ended(planned, response.destroyed ? null : outcome);
    return unwrap(outcome);
  }

  /** One target, as often as it may be tried. */
  private async attempt(sending: Sending, planned: PlannedTarget): Promise<Answer> {
    const { exchange, caller, read } = sending;
    const { request, entry } = exchange;
    const content = planned.params ? changedContent(read, planned.params) : read;
    const { headers } = request;
    const { modelSlug } = read;
    const found = this.planner.plan({ caller, headers, options: entry.asked, modelSlug, planned });
    const target = found instanceof Promise ? await found : found;
    entry.goesTo(target, planned.path, content);
    if (caller.policy) checkPolicy(caller.policy, target.provider.id, content.model);
    const { wire, translated } = outgoing({ request, content, planned, target, entry });
    if (!entry.isOpen) {
      entry.overheadMs = performance.now() - entry.arrivedAt - read.waitedMs;
      await entry.open(caller);
    }
    const attempt = await this.send(sending, planned, target, wire);
    return { status: attempt.status, attempt, target, planned, translated };
  }

  /** Tries until an answer has come. A client that leaves meanwhile ends the running try. */
  private async send(
    { exchange: { response, entry }, caller, read }: Sending,
    planned: PlannedTarget,
    target: Target,
    wire: WireRequest,
  ): Promise<Attempt> {
    const limits = this.sender.limitsFor(planned.timeoutMs ?? entry.asked.timeoutMs);
    const mayRetry = read.isRepeatable && (planned.retry !== null || entry.asked.retries > 0);
    const budget = mayRetry ? this.budgets.enter(target) : null;
    let running: Attempt | null = null;
    const onLeft = (): void => running?.cancel();
    response.once('close', onLeft);
    try {
      const { attempt, isExhausted } = await withRetries(
        () => (running = this.sender.start(caller.workspaceId ?? '', target, wire, limits)),
        {
          retries: entry.asked.retries,
          plan: planned.retry,
          budget,
          isRepeatable: read.isRepeatable,
          isWanted: () => !response.destroyed,
          onGivenUp: (given, errorCode) => {
            entry.addAttempt(given, target, errorCode);
          },
        },
      );
      entry.isExhausted = isExhausted;
      return attempt;
    } finally {
      budget?.leave();
      response.off('close', onLeft);
    }
  }

  private walk(sending: Sending): Walk<Answer> {
    const { exchange, read } = sending;
    return {
      request: routedRequest(exchange, read.json),
      attempt: (planned, holdMs) => this.tryOut(sending, planned, holdMs),
      decided: (decision) => exchange.entry.decided(decision),
      isOpen: (planned) => this.breakers.isOpen(planned),
      mayGoOn: (failed) =>
        !exchange.response.destroyed && (read.isRepeatable || (failed !== null && !failed.attempt.wasSent)),
      giveUp: (outcome) => giveUp(exchange, outcome),
    };
  }
}

function routedRequest(
  { request: { headers, url = '' }, entry }: Exchange,
  params: Json | null,
): RoutedRequest {
  const [pathname = ''] = url.split('?', 1);
  return { metadata: entry.asked.metadata, params, pathname, headers };
}

/** Another target is tried: what this one said becomes a row, and its connection is freed. */
async function giveUp({ entry }: Exchange, { answer, thrown }: Outcome<Answer>): Promise<void> {
  if (answer) {
    await discard(answer.attempt);
    entry.addAttempt(answer.attempt, answer.target, null);
  } else if (thrown instanceof FailedAttempt && entry.target)
    entry.addAttempt(thrown.attempt, entry.target, thrown.error.code);
}
