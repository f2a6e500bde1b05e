import type { RoutedRequest } from '../../common/contracts/routing-config/conditions.js';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { Json } from '../../providers/endpoint.js';
import { reachOf } from '../../auth/tenant.js';
import type { HookLists } from '../../common/contracts/guardrails/read-hooks.js';
import { type Guarded, guardRequest } from '../guardrails/guard-request.js';
import { Guardrails } from '../guardrails/guardrails.js';
import { isJudgedWhole, judgeAnswer, type JudgedAnswer } from '../guardrails/judge-answer.js';
import { Admission } from '../limits/admission.js';
import type { Content, ReadRequest } from '../types/content.js';
import { checkModel } from '../planning/allowed-models.js';
import { changedContent } from '../planning/changed-content.js';
import { checkPolicy } from '../planning/check-policy.js';
import { Planner } from '../planning/planner.js';
import { isStrictlyOpenAi, needsFields, outgoing, withFields } from '../translating/outgoing.js';
import { unlessPassed } from '../translating/translated-answer.js';
import type { Answer } from '../types/answer.js';
import type { Entry } from '../journal/entry.js';
import type { Exchange } from '../types/exchange.js';
import type { Plan, PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { discard, FailedAttempt, withRetries } from '../upstream/retry.js';
import { RetryBudgets } from '../upstream/retry-budget.js';
import { Sender } from '../upstream/sender.js';
import type { WireRequest } from '../upstream/wire.js';
import { Breakers } from './breakers.js';
import { Loads } from './loads.js';
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
  private readonly loads = new Loads();

  constructor(
    private readonly planner: Planner,
    private readonly sender: Sender,
    private readonly admission: Admission,
    private readonly breakers: Breakers,
    private readonly guardrails: Guardrails,
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
    const outcome = await settle(
      holdMs > 0 ? pending.then((answer) => proven(answer, entry, holdMs, response)) : pending,
    );
    this.breakers.ended(planned, response.destroyed ? null : outcome);
    return unwrap(outcome);
  }

  /** One target, as often as it may be tried. */
  private async attempt(sending: Sending, planned: PlannedTarget): Promise<Answer> {
    const { exchange, caller, read } = sending;
    const { request, entry } = exchange;
    const asked = planned.params ? changedContent(read, planned.params) : read;
    const { headers } = request;
    const { modelSlug } = read;
    const found = this.planner.plan({ caller, headers, options: entry.asked, modelSlug, planned });
    const target = found instanceof Promise ? await found : found;
    entry.goesTo(target, planned.path, asked);
    const content = needsFields(asked, planned, target, entry)
      ? await whole(asked, planned, target, entry)
      : asked;
    checkAllowed(caller, target, content, request.method);
    const guarded = planned.hooks ? await this.guard(sending, planned.hooks, content) : null;
    const passed = guarded ? guarded.content : content;
    const { wire, translated: translating } = outgoing({ request, content: passed, planned, target, entry });
    if (!entry.isOpen) {
      entry.overheadMs = performance.now() - entry.arrivedAt - read.waitedMs;
      await entry.open(caller);
    }
    const attempt = await this.send(sending, planned, target, wire);
    const translated = translating && unlessPassed(attempt, translating);
    const judged = guarded && (await judge(guarded, exchange, { attempt, translated, planned }));
    const { status } = judged ?? attempt;
    return { status, attempt, target, planned, translated, guarded, judged };
  }

  private async guard({ exchange, caller }: Sending, hooks: HookLists, content: Content): Promise<Guarded> {
    const { request, entry } = exchange;
    const found = this.guardrails.find(reachOf(caller), hooks);
    const guards = found instanceof Promise ? await found : found;
    return guardRequest(guards, { entry, caller, headers: request.headers, content });
  }

  /** Tries until an answer has come. A client that leaves meanwhile ends the running try. */
  private async send(
    { exchange, caller, read }: Sending,
    planned: PlannedTarget,
    target: Target,
    wire: WireRequest,
  ): Promise<Attempt> {
    const { response, entry } = exchange;
    const limits = this.sender.limitsFor(planned.timeoutMs ?? entry.asked.timeoutMs);
    const mayRetry = read.isRepeatable && (planned.retry !== null || entry.asked.retries > 0);
    const budget = mayRetry ? this.budgets.enter(target) : null;
    let running: Attempt | null = null;
    const onLeft = (): void => running?.cancel();
    const start = (): Attempt =>
      (running = this.sender.start(caller.workspaceId ?? '', target, wire, limits));
    response.once('close', onLeft);
    try {
      const { attempt, isExhausted } = await withRetries(
        () => this.admission.begin({ exchange, target, wire }, start),
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
      loads: this.loads,
      whenOver: (then) => void exchange.response.once('close', then),
      decided: (decision) => exchange.entry.decided(decision),
      isOpen: (planned) => this.breakers.isOpen(planned),
      mayGoOn: (failed) =>
        !exchange.response.destroyed && (read.isRepeatable || (failed !== null && !failed.attempt.wasSent)),
      giveUp: (outcome) => giveUp(exchange, outcome),
    };
  }
}

/** A form that this target needs in other words is read to its end; only then is all that it says known. */
async function whole(asked: Content, planned: PlannedTarget, target: Target, entry: Entry): Promise<Content> {
  const content = await withFields(asked);
  entry.goesTo(target, planned.path, content);
  return content;
}

/** Judges an answer that has to be whole for that; null for every other. A client that leaves meanwhile ends the try. */
async function judge(
  guarded: Guarded,
  { request, response, entry }: Exchange,
  { attempt, translated, planned }: Pick<Answer, 'attempt' | 'translated' | 'planned'>,
): Promise<JudgedAnswer | null> {
  const answering = { entry, attempt, translated, isStrict: isStrictlyOpenAi(planned, request) };
  if (!isJudgedWhole(guarded, answering)) return null;
  const onLeft = (): void => attempt.cancel();
  response.once('close', onLeft);
  try {
    return await judgeAnswer(guarded, answering);
  } finally {
    response.off('close', onLeft);
  }
}

function routedRequest(
  { request: { headers, url = '' }, entry }: Exchange,
  params: Json | null,
): RoutedRequest {
  const [pathname = ''] = url.split('?', 1);
  return { metadata: entry.asked.metadata, params, pathname, headers };
}

/** What the organization and the credential allow, before anything is sent. */
function checkAllowed({ policy }: Principal, target: Target, { model }: Content, method?: string): void {
  if (policy) checkPolicy(policy, target.provider.id, model);
  if (target.virtualKey?.models) checkModel(target.virtualKey.models, model, method);
}

/** Another target is tried: what this one said becomes a row, and its connection is freed. */
async function giveUp({ entry }: Exchange, { answer, thrown }: Outcome<Answer>): Promise<void> {
  if (answer) {
    await discard(answer.attempt);
    const { attempt, target, judged } = answer;
    entry.addAttempt(attempt, target, judged?.isDenied ? 'guardrail_denied' : null, judged?.reading);
  } else if (thrown instanceof FailedAttempt && entry.target)
    entry.addAttempt(thrown.attempt, entry.target, thrown.error.code);
}
