import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { mapMaybePromise } from '../../common/maybe-promise.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { Limit, Policy } from '../../common/limits/limit.js';
import type { AttemptReservation } from '../recording/attempt-reservation.js';
import { readsBody } from '../limits/applying.js';
import { metadataOf } from '../recording/record-of.js';
import type { Price } from '../../common/contracts/price.js';
import { costOf } from '../../providers/prices/cost.js';
import { PriceBook } from '../ports.js';
import { priceOfTarget } from '../recording/applied-price.js';
import { chargeAt, isLimited } from '../types/exchange-facts.js';
import type { RequestContent } from '../types/content.js';
import { refuseRepeatedMember } from '../types/repeated-member.js';
import type { Exchange } from '../recording/exchange.js';
import type { Target } from '../types/target.js';
import type { WireRequest } from './wire.js';
import { isMeasuredSession, OPENING_USAGES } from '../../providers/charging/sessions.js';
import {
  type Estimate,
  estimateOf,
  FREE,
  highestOf,
  type Inestimable,
  isInestimable,
} from '../types/estimate.js';
import type { LimitHold, LimitReservation } from '../types/limit-reservation.js';
import { type LimitDemand, Limiter } from '../limits/limiter.js';

/** An attempt that is ready to be sent. */
interface AdmissionRequest {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly target: Target;
  /** As this target receives it. */
  readonly content: RequestContent;
  readonly wire: WireRequest;
  /** The target's path in the config. */
  readonly option: string;
}

/** A side call, whose response is a vector and has no tokens. */
interface SideCallRequest {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly target: Target;
  readonly model: string;
  /** No text has more tokens than bytes. */
  readonly input: Buffer;
  /** Of the request. */
  readonly metadata: LimitDemand['metadata'];
  /** Its path in the config. */
  readonly option: string;
}

/** A step of a running session. */
interface SessionStepRequest {
  readonly exchange: Exchange;
  readonly caller: Principal;
  readonly target: Target;
  readonly estimate: Estimate;
  readonly step: 'response' | 'input';
}

/** Admits an attempt once all its limits have capacity for it. */
@Injectable()
export class Admission {
  constructor(
    private readonly limiter: Limiter,
    private readonly prices: PriceBook,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Reserves the maximum usage of an attempt that `isLimited`. The attempt's part is settled with the reservation, the request's part when
   * the exchange ends. Throws and rejects as `Limiter.reserve` does.
   */
  reserve(sending: AdmissionRequest): AttemptReservation | Promise<AttemptReservation> {
    const { exchange, target, option, content } = sending;
    const { recorder } = exchange;
    const { model } = content;
    const demand = new AttemptDemand(sending, this);
    const reserved = this.limiter.reserve(demand);
    const record = (limits: LimitReservation) =>
      recorder.reserve({ exchange, target, option, model, limits, estimate: demand.reserved });
    return mapMaybePromise(reserved, record);
  }

  /** The same for a side call of the gateway, which does not count as a request of its own. */
  reserveSideCall(call: SideCallRequest): AttemptReservation | Promise<AttemptReservation> {
    const { exchange, caller, target, model, input, metadata, option } = call;
    const { recorder } = exchange;
    const attempt = { exchange, target, option, model, isSideCall: true } as const;
    if (!isLimited(caller, target)) return recorder.reserve({ ...attempt, limits: null, estimate: null });
    const usage = { input_tokens: input.length, output_tokens: 0 };
    const price = this.priceAt(target, model);
    const estimate = { tokens: input.length, costNanoUsd: price && costOf(usage, price), usage };
    const demand = { caller, target, model, metadata, isFirst: false, unreadable: null, estimate };
    const reserved = this.limiter.reserve(demand);
    const record = (limits: LimitReservation) => recorder.reserve({ ...attempt, limits, estimate });
    return mapMaybePromise(reserved, record);
  }

  /** Reserves a step of a running session from every limit that applies now. Rejects as `Limiter.reserve` does. */
  reserveStep({
    exchange,
    caller,
    target,
    estimate,
    step,
  }: SessionStepRequest): LimitHold | Promise<LimitHold> {
    const { model, body } = exchange.trail;
    const metadata = metadataOf(exchange.facts.options, body);
    const demand = { caller, target, model, metadata, estimate, step, isFirst: false, unreadable: null };
    const reserved = this.limiter.reserve(demand);
    return mapMaybePromise(reserved, ({ attempt }) => attempt);
  }

  /** The current price of a model at a target; null when it is unknown. */
  priceAt(target: Target, model: string | null): Price | null {
    return priceOfTarget(this.prices, target, model);
  }

  /** The maximum usage of a request at a target. */
  estimate({ exchange: { facts, bodies }, target, content }: RequestAtTarget): Estimate | Inestimable {
    const name = `${facts.method} /v1${facts.path}`;
    const price = this.priceAt(target, content.model);
    if (content.isWebSocket) {
      // An open session uses nothing before its client sends something, but must not be opened where nothing may be used.
      const isMeasured = isMeasuredSession(facts.path, target.provider.id);
      return isMeasured ? highestOf(OPENING_USAGES, price) : { problem: 'usage_unknown', detail: name };
    }
    return estimateOf({
      charge: chargeAt(facts, target),
      name,
      body: content.fields ?? content.json,
      unreadable: content.unreadable ?? null,
      bodyBytes: Math.max(bodies.request.bytes, content.body instanceof Buffer ? content.body.length : 0),
      price,
      outputCeiling: this.outputCeiling,
    });
  }

  /** Output tokens assumed for a response without a maximum of its own. */
  get outputCeiling(): number {
    return this.settings.outputTokensCeiling;
  }
}

/** A request with its target. */
export interface RequestAtTarget {
  readonly exchange: Pick<Exchange, 'facts' | 'bodies'>;
  readonly target: Target;
  /** As this target receives it. */
  readonly content: RequestContent;
}

/** The demands of an attempt, computed when a limit reads them: most limits count requests, and read nothing. */
class AttemptDemand implements LimitDemand {
  private estimated: Estimate | Inestimable | null = null;

  constructor(
    private readonly sending: AdmissionRequest,
    private readonly admission: Pick<Admission, 'estimate'>,
  ) {}

  get caller(): Principal {
    return this.sending.caller;
  }

  get target(): Target {
    return this.sending.target;
  }

  get isFirst(): boolean {
    return !this.sending.exchange.recorder.isAdmitted;
  }

  get model(): string | null {
    return this.sending.content.model;
  }

  get metadata(): LimitDemand['metadata'] {
    const { exchange, content } = this.sending;
    return metadataOf(exchange.facts.options, content.json);
  }

  get unreadable(): string | null {
    const { wire, content } = this.sending;
    return wire.stored ? null : (content.unreadable ?? null);
  }

  checkRepeated(reader: string): void {
    const { wire, content } = this.sending;
    if (!wire.stored && wire.counted === undefined) refuseRepeatedMember(content, reader);
  }

  get estimate(): Estimate | Inestimable {
    return (this.estimated ??= this.estimateNow());
  }

  /** The reservation of token and cost limits; null if no such limit applies. */
  get reserved(): Estimate | null {
    const { estimated } = this;
    return estimated && !isInestimable(estimated) ? estimated : null;
  }

  private estimateNow(): Estimate | Inestimable {
    const { wire } = this.sending;
    // A cache hit is a request like any other, but uses nothing. Neither does a count by the gateway, which is not sent.
    return wire.stored || wire.counted !== undefined ? FREE : this.admission.estimate(this.sending);
  }
}

/** Whether a limit or a policy needs the fields of a form, including those after its file, before it is sent. */
export function isLimitedForm({ form, fields }: RequestContent, caller: Principal, target: Target): boolean {
  if (!form || fields) return false;
  return limitsModels(caller, target) || limitsUse(caller, target);
}

const limitsModels = ({ policy }: Principal, { virtualKey }: Target): boolean =>
  (policy !== null && policy.models !== null) || virtualKey?.models !== undefined;

function limitsUse({ limits: callers }: Principal, { virtualKey }: Target): boolean {
  const isOfConcern = (policy: Policy): boolean =>
    readsBody(policy) || policy.groups.length > 0 || countsUse(policy.limit);
  return (
    (callers !== undefined && (callers.limits.some(countsUse) || callers.policies.some(isOfConcern))) ||
    (virtualKey?.limits?.some(countsUse) ?? false)
  );
}

const countsUse = ({ measure }: Limit): boolean => measure === 'tokens' || measure === 'cost';
