import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { AppError } from '../../common/errors/app-error.js';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import type { CacheRules } from '../../routing-config/document.js';
import type { HookLists } from '../../routing-config/guardrails/read-hooks.js';
import { type CachedRequest, ResponseCache } from '../caching/response-cache.js';
import type { CacheOffer } from '../caching/cache-lookup.js';
import { applicable, type RequestGuardrails } from '../guardrails/applicable.js';
import { type GuardInput, type GuardedRequest, guardRequest } from '../guardrails/guard-request.js';
import { Guardrails, type Guards, NO_GUARDS } from '../guardrails/guardrails.js';
import { isJudgedWhole, judgeAnswer } from '../guardrails/judge-answer.js';
import { isJudgedRefusal, judgeRefusal } from '../guardrails/judge-refusal.js';
import type { JudgedAnswer } from '../guardrails/judged-answer.js';
import { changedContent } from '../planning/changed-content.js';
import { checkAllowed, checkLateModel, checkShown } from '../planning/check-allowed.js';
import { Planner } from '../planning/planner.js';
import { type Exchange, failedAttempt } from '../recording/exchange.js';
import { ResponseFailure } from '../recording/reported-failure.js';
import type { AttemptOptions } from '../routing/routing.js';
import { isStrictlyOpenAi, needsFields, outgoing, withFields } from '../translation/outgoing.js';
import { unlessPassed } from '../translation/translated-answer.js';
import type { AnsweredAttempt, AttemptOutcome, UnansweredAttempt } from '../types/attempt-outcome.js';
import {
  afterCache,
  afterGuardrails,
  afterRetries,
  afterTranslation,
  type AttemptTrail,
  trailAt,
  withContent,
  withHookResults,
} from '../types/attempt-trail.js';
import { whileListening } from '../types/cancellation.js';
import type { RequestContent } from '../types/content.js';
import type { HookResults } from '../types/hook-results.js';
import type { HoldRule, PlannedTarget } from '../types/plan.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { Target } from '../types/target.js';
import { isLimitedForm } from '../upstream/admission.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead } from '../upstream/forwarded-headers.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import type { CacheFill } from '../upstream/wire.js';
import type { Answer } from './answer.js';
import { discardAnswer, settleDiscarded } from './discard.js';
import type { IncomingRequest } from './incoming-request.js';
import { passGate } from './first-token-gate.js';
import { RetryingSender } from './retrying-sender.js';
import { TargetEstimates } from './target-estimates.js';

/** Sends a request to one target. */
@Injectable()
export class TargetAttempts {
  constructor(
    private readonly planner: Planner,
    private readonly guardrails: Guardrails,
    private readonly cache: ResponseCache,
    private readonly sender: RetryingSender,
    readonly estimates: TargetEstimates,
  ) {}

  /** The steps of a request at one target, in order: each takes values and returns one. Never rejects. */
  async attempt(
    incoming: IncomingRequest,
    planned: PlannedTarget,
    options: AttemptOptions,
  ): Promise<AttemptOutcome<Answer>> {
    const { exchange, caller } = incoming;
    const { request, facts } = exchange;
    let trail = options.previous;
    let cacheFill: CacheFill | null = null;
    let tried: StartedAttempt | null = null;
    try {
      const asked = askedContent(incoming, planned);
      const target = await this.find(incoming, planned);
      trail = trailAt(trail, target, planned.path, asked);
      const content = await formContent(incoming, planned, target, asked);
      trail = withContent(trail, content);
      if (isRestricted(caller, target)) checkAllowed(caller, target, content, facts);
      trail = withHookResults(trail, isGuarded(incoming, planned));
      const guarded = await this.guard(incoming, planned, content, trail.hookResults);
      trail = afterGuardrails(trail, guarded);
      const passed = passedContent(content, guarded);
      const prepared = outgoing({ request, content: passed, planned, target, facts });
      const { wire, translated } = prepared;
      trail = afterTranslation(trail, prepared);
      await opened(incoming, trail);
      const cached = await this.seek(incoming, planned, {
        target,
        content: passed,
        wire,
        isHedge: options.isHedge,
      });
      trail = afterCache(trail, cached);
      cacheFill = cached.wire.cacheFill ?? null;
      const ready = { planned, target, content: passed, wire: cached.wire, trail };
      const sent = await this.sender.send(incoming, ready, options);
      trail = afterRetries(trail, sent);
      tried = sent.sent;
      if (tried === null || sent.error !== null) throw sent.error;
      this.planner.noteStatus(target, tried.attempt.status);
      const how = { exchange, target, planned, content: passed, guarded, translated, hold: options.hold };
      const answer = await examined(tried, how);
      return { kind: 'answered', answer, trail };
    } catch (thrown) {
      cacheFill?.release();
      return unanswered(exchange, { thrown, tried, trail });
    }
  }

  /** Ends and records a response that is not passed on. */
  discard({ exchange }: IncomingRequest, answered: AnsweredAttempt<Answer>): Promise<void> {
    return discardAnswer(exchange.facts, answered);
  }

  private find(
    { exchange, caller, read }: IncomingRequest,
    planned: PlannedTarget,
  ): Target | Promise<Target> {
    const { request, facts } = exchange;
    const { modelSlug, model, path } = read;
    const { headers } = request;
    return this.planner.plan({ caller, headers, options: facts.options, modelSlug, model, planned, path });
  }

  private seek(
    { exchange, caller }: IncomingRequest,
    planned: PlannedTarget,
    sent: Pick<CacheOffer, 'target' | 'content' | 'wire' | 'isHedge'>,
  ): CachedRequest | Promise<CachedRequest> {
    const rules = cacheRules(exchange.facts, caller, planned);
    return rules
      ? this.cache.offer({ ...sent, exchange, caller, rules, path: planned.path })
      : { wire: sent.wire, status: null, score: null, notCompared: null };
  }

  /** Guardrails of the organization and the workspace run first, regardless of the config. Null if none applies. */
  private guard(
    incoming: IncomingRequest,
    planned: PlannedTarget,
    content: RequestContent,
    results: HookResults | null,
  ): GuardedRequest | Promise<GuardedRequest> | null {
    if (!results || !isGuarded(incoming, planned)) return null;
    const { exchange, caller } = incoming;
    const { hooks } = planned;
    const { request, facts: exchangeFacts } = exchange;
    const asking = { exchangeFacts, results, caller, headers: request.headers, content };
    const imposed = this.guardsOf(caller, caller.guardrails ?? null);
    return mapMaybePromise(imposed, (made) => this.guardWith(made, hooks, asking));
  }

  private guardWith(
    imposed: Guards,
    hooks: HookLists | null,
    asking: GuardInput,
  ): GuardedRequest | Promise<GuardedRequest> {
    const own = this.guardsOf(asking.caller, hooks);
    return mapMaybePromise(own, (made) => guardBy({ imposed, own: made }, asking));
  }

  private guardsOf(caller: Principal, hooks: HookLists | null): Guards | Promise<Guards> {
    return hooks ? this.guardrails.find(reachOf(caller), hooks) : NO_GUARDS;
  }
}

/** The request for one target, before guardrails. */
const askedContent = ({ read }: IncomingRequest, { params }: PlannedTarget): RequestContent =>
  params ? changedContent(read, params) : read;

const passedContent = (content: RequestContent, guarded: GuardedRequest | null): RequestContent =>
  guarded ? guarded.content : content;

/** A policy or a list of models decides what may be sent. */
const isRestricted = ({ policy }: Principal, { virtualKey }: Target): boolean =>
  policy !== null || virtualKey?.models !== undefined;

/** A form that is limited, or that this target needs rewritten, is read to its end; only then are all of its fields known. */
function formContent(
  { exchange: { facts }, caller }: IncomingRequest,
  planned: PlannedTarget,
  target: Target,
  asked: RequestContent,
): RequestContent | Promise<RequestContent> {
  if (!asked.form) return asked;
  asked.form.onLate = (name, value) => {
    if (name === 'model') checkLateModel(caller, target, value);
  };
  if (!needsFields(asked, planned, target, facts) && !isLimitedForm(asked, caller, target)) return asked;
  checkShown(caller, target, asked);
  return withFields(asked);
}

/** Writes the exchange record before the first byte goes upstream. */
function opened({ exchange, caller, read }: IncomingRequest, trail: AttemptTrail): Promise<void> | undefined {
  const { recorder, request, facts } = exchange;
  if (recorder.isOpen) return undefined;
  return recorder.open({ request, facts, caller, trail, waitedMs: read.waitedMs });
}

/** Cache rules of the config, else of the request, else of the workspace. Null for none. */
function cacheRules(
  { options }: ExchangeFacts,
  caller: Principal,
  planned: PlannedTarget,
): CacheRules | null {
  const rules = planned.cache ?? options.cache ?? caller.cache;
  return rules && rules.mode !== 'off' ? rules : null;
}

function guardBy(wanted: RequestGuardrails, asking: GuardInput): GuardedRequest | Promise<GuardedRequest> {
  return guardRequest(applicable(wanted, asking), asking);
}

/** The status that the router acts on. A withheld refusal is still one: another target may succeed. */
function routedStatus({ status }: Attempt, judged: JudgedAnswer | null): number {
  return judged && status < 300 ? judged.status : status;
}

const isGuarded = ({ caller }: IncomingRequest, { hooks }: PlannedTarget): boolean =>
  hooks !== null || caller.guardrails !== undefined;

/** The response, once guardrails have judged it and its beginning is useful. Rejects when it cannot be passed on. */
async function examined(
  { attempt, reservation, cacheFill }: StartedAttempt,
  { exchange, target, planned, content, guarded, translated: prepared, hold }: SentContent,
): Promise<Answer> {
  const translated = prepared && unlessPassed(attempt, prepared);
  const judged = await judge(guarded, exchange, { attempt, translated, planned });
  const status = routedStatus(attempt, judged);
  const answer: Answer = {
    attempt,
    reservation,
    cacheFill,
    status,
    target,
    planned,
    content,
    translated,
    guarded,
    judged,
  };
  if (hold) await passGate(answer, exchange, hold);
  return answer;
}

/** How a request was sent to its target. */
interface SentContent extends Pick<Answer, 'target' | 'planned' | 'content' | 'guarded' | 'translated'> {
  readonly exchange: Exchange;
  readonly hold: HoldRule | null;
}

/** An attempt that did not lead to a response. */
interface FailedSteps {
  readonly thrown: unknown;
  /** Its last try; null if nothing was sent. */
  readonly tried: StartedAttempt | null;
  readonly trail: AttemptTrail;
}

/** Records the try that failed, if any. */
function unanswered(exchange: Exchange, { thrown, tried, trail }: FailedSteps): UnansweredAttempt {
  const { error, reading, reportedStatus } =
    thrown instanceof ResponseFailure ? thrown : { error: thrown, reading: null, reportedStatus: null };
  if (!tried) return { kind: 'failed', error, failed: null, reportedStatus, trail };
  settleDiscarded(tried, trail, {
    ...failedAttempt(exchange, AppError.from(error)),
    ...(reading && { reading }),
  });
  const failed = error instanceof AppError ? tried.attempt : null;
  return { kind: 'failed', error, failed, reportedStatus, trail };
}

/**
 * Judges a response that must be whole for it; null for every other. If the client disconnects meanwhile, the attempt is cancelled, unless
 * it is set to finish.
 */
function judge(
  guarded: GuardedRequest | null,
  { request, signal, facts: exchangeFacts }: Exchange,
  { attempt, translated, planned }: Pick<Answer, 'attempt' | 'translated' | 'planned'>,
): Promise<JudgedAnswer> | null {
  if (!guarded) return null;
  const head = readResponseHead(attempt.rawHeaders);
  const isStrict = isStrictlyOpenAi(planned, request);
  const { content } = guarded;
  const answering = { request, exchangeFacts, content, attempt, head, translated, isStrict };
  const onLeft = (): void => attempt.clientLeft();
  if (isJudgedWhole(guarded, answering))
    return whileListening(signal, onLeft, () => judgeAnswer(guarded, answering));
  return isJudgedRefusal(guarded, answering)
    ? whileListening(signal, onLeft, () => judgeRefusal(guarded, answering))
    : null;
}
