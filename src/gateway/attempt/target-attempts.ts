import type { ClientResponse } from '../../common/http/messages.js';
import type { CacheRules } from '../../routing-config/document.js';
import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { ResponseCache } from '../caching/response-cache.js';
import { reachOf } from '../../auth/tenant.js';
import type { HookLists } from '../../routing-config/guardrails/read-hooks.js';
import { type GuardInput, type GuardedRequest, guardRequest } from '../guardrails/guard-request.js';
import { applicable, type RequestGuardrails } from '../guardrails/applicable.js';
import { Guardrails, type Guards, NO_GUARDS } from '../guardrails/guardrails.js';
import type { Attempt } from '../upstream/attempt.js';
import { isJudgedWhole, judgeAnswer } from '../guardrails/judge-answer.js';
import { isJudgedRefusal, judgeRefusal } from '../guardrails/judge-refusal.js';
import type { JudgedAnswer } from '../guardrails/judged-answer.js';
import { isLimitedForm } from '../upstream/admission.js';
import type { Content } from '../types/content.js';
import { changedContent } from '../planning/changed-content.js';
import { checkAllowed, checkShown } from '../planning/check-allowed.js';
import { Planner } from '../planning/planner.js';
import { isStrictlyOpenAi, needsFields, outgoing, withFields } from '../translation/outgoing.js';
import { unlessPassed } from '../translation/translated-answer.js';
import type { Answer } from './answer.js';
import type { Entry } from '../recording/entry.js';
import type { Exchange } from '../recording/exchange.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { readResponseHead } from '../upstream/response-headers.js';
import { RetryingSender } from './retrying-sender.js';
import type { SendableRequest } from './sending.js';
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

  /** The steps of a request at one target, in order. Rejects with the FailedAttempt, or with the error that refused the target. */
  async attempt(sending: SendableRequest, planned: PlannedTarget): Promise<Answer> {
    const { exchange, caller, read, trail } = sending;
    const { request, entry } = exchange;
    const asked = planned.params ? changedContent(read, planned.params) : read;
    const found = this.find(sending, planned);
    const target = found instanceof Promise ? await found : found;
    trail.goesTo(target, planned.path, asked);
    const content = asked.form ? await formContent(sending, planned, target, asked) : asked;
    checkAllowed(caller, target, content, entry);
    const guarded = isGuarded(sending, planned) ? await this.guard(sending, planned.hooks, content) : null;
    const passed = guarded ? guarded.content : content;
    const translating = outgoing({ request, content: passed, planned, target, entry });
    const { wire, isUnlisted } = translating;
    trail.translated(translating);
    if (!entry.isOpen) await opened(sending);
    const rules = cacheRules(entry, caller, planned);
    const ready = rules
      ? await this.cache.offer({
          exchange,
          trail,
          caller,
          target,
          wire,
          content: passed,
          rules,
          path: planned.path,
        })
      : wire;
    const attempt = await this.sender.send(sending, planned, { target, content: passed, wire: ready });
    const translated = unlessPassed(attempt, translating.translated);
    const judged = guarded && (await judge(guarded, exchange, { attempt, translated, planned }));
    const status = routedStatus(attempt, judged);
    return { status, attempt, target, planned, content: passed, translated, isUnlisted, guarded, judged };
  }

  private find(
    { exchange, caller, read }: SendableRequest,
    planned: PlannedTarget,
  ): Target | Promise<Target> {
    const { request, entry } = exchange;
    const { modelSlug, path } = read;
    const { headers } = request;
    return this.planner.plan({ caller, headers, options: entry.asked, modelSlug, planned, path });
  }

  /** Guardrails of the organization and the workspace run first, regardless of the config. */
  private guard(
    { exchange, caller, trail }: SendableRequest,
    hooks: HookLists | null,
    content: Content,
  ): GuardedRequest | Promise<GuardedRequest> {
    const { request, entry } = exchange;
    const asking = { entry, trail, caller, headers: request.headers, content };
    const imposed = this.guardsOf(caller, caller.guardrails ?? null);
    return imposed instanceof Promise
      ? imposed.then((made) => this.guardWith(made, hooks, asking))
      : this.guardWith(imposed, hooks, asking);
  }

  private guardWith(
    imposed: Guards,
    hooks: HookLists | null,
    asking: GuardInput,
  ): GuardedRequest | Promise<GuardedRequest> {
    const own = this.guardsOf(asking.caller, hooks);
    return own instanceof Promise
      ? own.then((made) => guardBy({ imposed, own: made }, asking))
      : guardBy({ imposed, own }, asking);
  }

  private guardsOf(caller: Principal, hooks: HookLists | null): Guards | Promise<Guards> {
    return hooks ? this.guardrails.find(reachOf(caller), hooks) : NO_GUARDS;
  }
}

/** A form that is limited, or that this target needs rewritten, is read to its end; only then are all of its fields known. */
async function formContent(
  { exchange, caller, trail }: SendableRequest,
  planned: PlannedTarget,
  target: Target,
  asked: Content,
): Promise<Content> {
  const { entry } = exchange;
  if (!needsFields(asked, planned, target, entry) && !isLimitedForm(asked, caller, target)) return asked;
  checkShown(caller, target, asked);
  const content = await withFields(asked);
  trail.goesTo(target, planned.path, content);
  return content;
}

/** Writes the exchange record before the first byte goes upstream. */
function opened({ exchange: { entry }, caller, read }: SendableRequest): Promise<void> {
  entry.worked(performance.now() - entry.arrivedAt - read.waitedMs);
  return entry.open(caller);
}

/** Cache rules of the config, else of the request, else of the workspace. Null for none. */
function cacheRules({ asked }: Entry, caller: Principal, planned: PlannedTarget): CacheRules | null {
  const rules = planned.cache ?? asked.cache ?? caller.cache;
  return rules && rules.mode !== 'off' ? rules : null;
}

function guardBy(wanted: RequestGuardrails, asking: GuardInput): GuardedRequest | Promise<GuardedRequest> {
  return guardRequest(applicable(wanted, asking), asking);
}

/** The status that the router acts on. A withheld refusal is still one: another target may succeed. */
function routedStatus({ status }: Attempt, judged: JudgedAnswer | null): number {
  return judged && status < 300 ? judged.status : status;
}

const isGuarded = ({ caller }: SendableRequest, { hooks }: PlannedTarget): boolean =>
  hooks !== null || caller.guardrails !== undefined;

/**
 * Judges a response that must be whole for it; null for every other. If the client disconnects meanwhile, the attempt is cancelled, unless
 * it is set to finish.
 */
function judge(
  guarded: GuardedRequest,
  { request, response, entry }: Exchange,
  { attempt, translated, planned }: Pick<Answer, 'attempt' | 'translated' | 'planned'>,
): Promise<JudgedAnswer> | null {
  const head = readResponseHead(attempt.rawHeaders);
  const isStrict = isStrictlyOpenAi(planned, request);
  const answering = { entry, content: guarded.content, attempt, head, translated, isStrict };
  if (isJudgedWhole(guarded, answering))
    return whileConnected(response, attempt, () => judgeAnswer(guarded, answering));
  return isJudgedRefusal(guarded, answering)
    ? whileConnected(response, attempt, () => judgeRefusal(guarded, answering))
    : null;
}

async function whileConnected(
  response: ClientResponse,
  attempt: Attempt,
  judging: () => Promise<JudgedAnswer>,
): Promise<JudgedAnswer> {
  const onLeft = (): void => attempt.clientLeft();
  response.on('close', onLeft);
  try {
    return await judging();
  } finally {
    response.off('close', onLeft);
  }
}
