import type { ClientResponse } from '../../common/http/messages.js';
import type { CacheRules } from '../../routing-config/document.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { Price } from '../../common/contracts/price.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { EndpointId } from '../../providers/endpoint.js';
import { ResponseCache } from '../caching/response-cache.js';
import { reachOf } from '../../auth/tenant.js';
import type { HookLists } from '../../routing-config/guardrails/read-hooks.js';
import { type Asking, type Guarded, guardRequest } from '../guardrails/guard-request.js';
import { checkApplicable, type Wanted } from '../guardrails/applicable.js';
import { Guardrails, type Guards, joined, NO_GUARDS } from '../guardrails/guardrails.js';
import type { Answering } from '../guardrails/answering.js';
import { isJudgedWhole, judgeAnswer, type JudgedAnswer } from '../guardrails/judge-answer.js';
import { Admission, estimateAt, isLimitedForm } from '../upstream/admission.js';
import { isInestimable } from '../limits/estimate.js';
import type { Content } from '../types/content.js';
import { changedContent } from '../planning/changed-content.js';
import { checkAllowed, checkShown } from '../planning/check-allowed.js';
import { finishesWithoutClient, Planner } from '../planning/planner.js';
import { isStrictlyOpenAi, needsFields, outgoing, withFields } from '../translation/outgoing.js';
import { unlessPassed } from '../translation/translated-answer.js';
import type { Answer } from '../delivery/answer.js';
import type { Entry } from '../recording/entry.js';
import type { Exchange } from '../recording/exchange.js';
import type { HoldRule, Plan, PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { withRetries } from '../upstream/retry.js';
import { RetryBudgets } from '../upstream/retry-budget.js';
import { readResponseHead } from '../upstream/response-headers.js';
import { Sender } from '../upstream/sender.js';
import type { WireRequest } from '../upstream/wire.js';
import { Breakers } from './breakers.js';
import { Loads } from './loads.js';
import { proven } from './proven.js';
import { settle, unwrap } from './outcome.js';
import { putAway } from './put-away.js';
import { Hedges } from './hedges.js';
import { Leg, RequestRace } from './request-race.js';
import { RequestWalk } from './request-walk.js';
import { route } from './route.js';
import type { Sending } from './sending.js';

/** What one target gets. */
interface OutgoingAttempt {
  readonly target: Target;
  readonly content: Content;
  readonly wire: WireRequest;
}

/** Sends a request along a plan until an answer stands. */
@Injectable()
export class Dispatcher {
  private readonly budgets = new RetryBudgets();
  readonly loads = new Loads();
  private readonly hedges = new Hedges();

  constructor(
    private readonly planner: Planner,
    private readonly sender: Sender,
    private readonly admission: Admission,
    readonly breakers: Breakers,
    private readonly guardrails: Guardrails,
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly cache: ResponseCache,
  ) {}

  /** Rejects with the FailedAttempt of the last target, or with the AppError that refused it. */
  dispatch(sending: Sending, plan: Plan): Promise<Answer> {
    return plan.kind === 'target' ? this.attempt(sending, plan) : route(plan, new RequestWalk(this, sending));
  }

  /** One target of several: its breaker hears what became of it, and an answer may have to prove itself first. */
  tryOut(sending: Sending, planned: PlannedTarget, hold: HoldRule | null): Promise<Answer> {
    return planned.breaker ? this.heard(sending, planned, hold) : this.held(sending, planned, hold);
  }

  private async heard(sending: Sending, planned: PlannedTarget, hold: HoldRule | null): Promise<Answer> {
    const { response } = sending.exchange;
    this.breakers.began(planned);
    const outcome = await settle(this.held(sending, planned, hold));
    // What the cache answered says nothing of the target, nor does what another target was faster than.
    const isTelling = !response.destroyed && !outcome.answer?.attempt.isReplayed && !sending.leg?.isOver;
    this.breakers.ended(planned, isTelling ? outcome : null);
    return unwrap(outcome);
  }

  /** An answer that is judged as a whole has nothing left to prove. */
  private held(sending: Sending, planned: PlannedTarget, hold: HoldRule | null): Promise<Answer> {
    const pending = this.attempt(sending, planned);
    if (!hold?.holdMs) return pending;
    const { response, entry } = sending.exchange;
    return pending.then((answer) => (answer.judged ? answer : proven(answer, entry, hold, response)));
  }

  /** One target, as often as it may be tried. */
  private async attempt(sending: Sending, planned: PlannedTarget): Promise<Answer> {
    const { exchange, caller, read } = sending;
    const { request, entry } = exchange;
    const asked = planned.params ? changedContent(read, planned.params) : read;
    const { headers } = request;
    const { modelSlug, path } = read;
    const found = this.planner.plan({ caller, headers, options: entry.asked, modelSlug, planned, path });
    const target = found instanceof Promise ? await found : found;
    entry.goesTo(target, planned.path, asked);
    const content = asked.form ? await formContent(sending, planned, target, asked) : asked;
    checkAllowed(caller, target, content, entry);
    const guarded = isGuarded(sending, planned) ? await this.guard(sending, planned.hooks, content) : null;
    const passed = guarded ? guarded.content : content;
    const { wire, translated: translating } = outgoing({ request, content: passed, planned, target, entry });
    if (!entry.isOpen) await opened(sending);
    const rules = cacheRules(entry, caller, planned);
    const ready = rules
      ? await this.cache.offer({ exchange, caller, target, wire, content: passed, rules, path: planned.path })
      : wire;
    const attempt = await this.send(sending, planned, { target, content: passed, wire: ready });
    const translated = unlessPassed(attempt, translating);
    const judged = guarded && (await judge(guarded, exchange, { attempt, translated, planned }));
    const { status } = judged ?? attempt;
    return { status, attempt, target, planned, translated, guarded, judged };
  }

  /** What the organization and the workspace say comes first, whatever the config says. */
  private guard(
    { exchange, caller }: Sending,
    hooks: HookLists | null,
    content: Content,
  ): Guarded | Promise<Guarded> {
    const { request, entry } = exchange;
    const asking = { entry, caller, headers: request.headers, content };
    const imposed = this.guardsOf(caller, caller.guardrails ?? null);
    return imposed instanceof Promise
      ? imposed.then((made) => this.guardWith(made, hooks, asking))
      : this.guardWith(imposed, hooks, asking);
  }

  private guardWith(imposed: Guards, hooks: HookLists | null, asking: Asking): Guarded | Promise<Guarded> {
    const own = this.guardsOf(asking.caller, hooks);
    return own instanceof Promise
      ? own.then((made) => guardBy({ imposed, own: made }, asking))
      : guardBy({ imposed, own }, asking);
  }

  private guardsOf(caller: Principal, hooks: HookLists | null): Guards | Promise<Guards> {
    return hooks ? this.guardrails.find(reachOf(caller), hooks) : NO_GUARDS;
  }

  /** Tries until an answer has come. A client that leaves meanwhile ends the running attempt, unless that finishes. */
  private async send(
    { exchange, caller, read, leg }: Sending,
    planned: PlannedTarget,
    { target, content, wire }: OutgoingAttempt,
  ): Promise<Attempt> {
    const { response, entry } = exchange;
    const limits = this.sender.limitsFor(planned.timeoutMs ?? entry.asked.timeoutMs);
    const mayRetry = read.isRepeatable && (planned.retry !== null || entry.asked.retries > 0);
    const budget = mayRetry ? this.budgets.enter(caller, target, exchange.request.headers) : null;
    let running: Attempt | null = null;
    const onLeft = (): void => running?.clientLeft();
    const start = (): Attempt => {
      leg?.checkWanted();
      running = this.sender.start(caller.workspaceId ?? '', target, wire, limits);
      running.target = target;
      running.option = planned.path;
      running.model = entry.model;
      running.finishes = finishesWithoutClient(planned, target, caller);
      leg?.began(running);
      return running;
    };
    response.on('close', onLeft);
    try {
      const { attempt, isExhausted } = await withRetries(
        () => this.admission.begin({ exchange, target, content, wire }, start),
        {
          retries: entry.asked.retries,
          plan: planned.retry,
          budget,
          isRepeatable: read.isRepeatable,
          isWanted: () => !response.destroyed && !leg?.isOver,
          putAway: (attempt) => putAway(entry, attempt),
          onGivenUp: (given, errorCode) => {
            if (leg) leg.running = null;
            entry.retries += 1;
            entry.addDiscarded(given, target, errorCode);
          },
        },
      );
      entry.isExhausted = isExhausted;
      return attempt;
    } catch (error) {
      wire.lead?.close();
      throw error;
    } finally {
      budget?.leave();
      response.off('close', onLeft);
    }
  }

  /** Null where the target cannot be found, too: trying it will tell why. */
  async priceOf(sending: Sending, planned: PlannedTarget): Promise<Price | null> {
    const placed = await this.placed(sending, planned);
    return placed && placed.entry.priceAt(placed.target, placed.content.model);
  }

  /** What a request may cost at most at a target, nano-dollars; null where it cannot be estimated. */
  private async estimate(sending: Sending, planned: PlannedTarget): Promise<number | null> {
    const placed = await this.placed(sending, planned);
    const estimate = placed && estimateAt(placed, this.settings.outputTokensCeiling);
    return estimate && !isInestimable(estimate) ? estimate.costNanoUsd : null;
  }

  /** Where a request would go, and what it would say there; null where the target cannot be found. */
  private async placed({ exchange, caller, read }: Sending, planned: PlannedTarget) {
    const { request, entry } = exchange;
    const { headers } = request;
    const { modelSlug, path } = read;
    try {
      const options = entry.asked;
      const target = await this.planner.plan({ caller, headers, options, modelSlug, planned, path });
      return { entry, target, content: planned.params ? changedContent(read, planned.params) : read };
    } catch {
      return null;
    }
  }

  racing(sending: Sending): RequestRace | null {
    if (!isRepeatable(sending)) return null;
    const leg = (sending.leg = new Leg());
    return new RequestRace(this.hedges, {
      leg,
      entry: sending.exchange.entry,
      estimate: (planned) => this.estimate(sending, planned),
      walkOf: (entry, otherLeg) =>
        new RequestWalk(this, { ...sending, exchange: { ...sending.exchange, entry }, leg: otherLeg }),
    });
  }
}

/** A form that this target needs in other words, or that is limited, is read to its end; only then is all that it says known. */
async function formContent(
  { exchange, caller }: Sending,
  planned: PlannedTarget,
  target: Target,
  asked: Content,
): Promise<Content> {
  const { entry } = exchange;
  if (!needsFields(asked, planned, target, entry) && !isLimitedForm(asked, caller, target)) return asked;
  checkShown(caller, target, asked);
  const content = await withFields(asked);
  entry.goesTo(target, planned.path, content);
  return content;
}

/** The journal has it before the first byte goes upstream. */
function opened({ exchange: { entry }, caller, read }: Sending): Promise<void> {
  entry.overheadMs = performance.now() - entry.arrivedAt - read.waitedMs;
  return entry.open(caller);
}

/** What is said of the cache: by the config, or else the request, or else the workspace. Null for none. */
function cacheRules({ asked }: Entry, caller: Principal, planned: PlannedTarget): CacheRules | null {
  const rules = planned.cache ?? asked.cache ?? caller.cache;
  return rules && rules.mode !== 'off' ? rules : null;
}

function guardBy(wanted: Wanted, asking: Asking): Guarded | Promise<Guarded> {
  checkApplicable(wanted, asking);
  return guardRequest(joined(wanted.imposed, wanted.own), asking);
}

const isGuarded = ({ caller }: Sending, { hooks }: PlannedTarget): boolean =>
  hooks !== null || caller.guardrails !== undefined;

/** Judges an answer that has to be whole for that; null for every other. A client that leaves meanwhile ends the attempt, unless that finishes. */
function judge(
  guarded: Guarded,
  { request, response, entry }: Exchange,
  { attempt, translated, planned }: Pick<Answer, 'attempt' | 'translated' | 'planned'>,
): Promise<JudgedAnswer> | null {
  const head = readResponseHead(attempt.rawHeaders);
  const answering = { entry, attempt, head, translated, isStrict: isStrictlyOpenAi(planned, request) };
  return isJudgedWhole(guarded, answering) ? judgedWhole(guarded, answering, response) : null;
}

async function judgedWhole(
  guarded: Guarded,
  answering: Answering,
  response: ClientResponse,
): Promise<JudgedAnswer> {
  const onLeft = (): void => answering.attempt.clientLeft();
  response.on('close', onLeft);
  try {
    return await judgeAnswer(guarded, answering);
  } finally {
    response.off('close', onLeft);
  }
}

/** Endpoints whose requests leave nothing behind at a provider, so that asking twice costs money and nothing else. */
const TRACELESS: ReadonlySet<EndpointId> = new Set([
  'chat-completions',
  'completions',
  'fim-completions',
  'messages',
  'count-tokens',
  'generate-content',
  'embed-content',
  'chat-v2',
  'embed-v2',
  'rerank-v2',
  'embeddings',
  'rerank',
  'moderations',
  'ocr',
]);

/** Stored answers are found again by their id: of two, one would lie there unknown. */
function isRepeatable({ exchange, read }: Sending): boolean {
  const { endpoint } = exchange.entry;
  if (!endpoint || !read.isRepeatable || !read.json) return false;
  return TRACELESS.has(endpoint.id) || (endpoint.id === 'responses' && read.json.store === false);
}
