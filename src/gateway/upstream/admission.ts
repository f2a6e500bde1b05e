import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { Limit, Policy } from '../../common/limits/limit.js';
import type { Entry } from '../recording/entry.js';
import type { AttemptReservation } from '../recording/attempt-reservation.js';
import { readsBody } from '../limits/applying.js';
import { metadataOf } from '../recording/records.js';
import { costOf } from '../../providers/prices/cost.js';
import type { Content } from '../types/content.js';
import { checkRepeated } from '../types/repeated-member.js';
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
} from '../limits/estimate.js';
import type { Hold } from '../limits/hold.js';
import { Limiter, type LimitReservation, type LimitDemand } from '../limits/limiter.js';

/** An attempt that is ready to be sent. */
interface AdmissionRequest {
  readonly exchange: Exchange;
  readonly target: Target;
  /** As this target receives it. */
  readonly content: Content;
  readonly wire: WireRequest;
  /** The target's path in the config. */
  readonly option: string;
}

/** A side call, whose response is a vector and has no tokens. */
interface SideCallRequest {
  readonly entry: Entry;
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
  readonly entry: Entry;
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
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /**
   * Reserves the maximum usage of the attempt. The attempt's part is settled with the reservation, the request's part when the exchange
   * ends. Without limits, this costs two comparisons. Throws and rejects as `Limiter.reserve` does.
   */
  reserve(sending: AdmissionRequest): AttemptReservation | Promise<AttemptReservation> {
    const { exchange, target, option, content } = sending;
    const { entry } = exchange;
    const { caller } = entry;
    const attempt = { target, option, model: content.model };
    if (caller === null || !isLimited(caller, target)) return entry.reserve({ ...attempt, ...UNLIMITED });
    const demand = new AttemptDemand(sending, caller, this.settings.outputTokensCeiling);
    const reserved = this.limiter.reserve(demand);
    const record = (limits: LimitReservation) =>
      entry.reserve({ ...attempt, limits, estimate: demand.reserved });
    return reserved instanceof Promise ? reserved.then(record) : record(reserved);
  }

  /** The same for a side call of the gateway, which does not count as a request of its own. */
  reserveSideCall(call: SideCallRequest): AttemptReservation | Promise<AttemptReservation> {
    const { entry, target, model, input, metadata, option } = call;
    const { caller } = entry;
    const attempt = { target, option, model, isSideCall: true } as const;
    if (caller === null || !isLimited(caller, target)) return entry.reserve({ ...attempt, ...UNLIMITED });
    const usage = { input_tokens: input.length, output_tokens: 0 };
    const price = entry.priceAt(target, model);
    const estimate = { tokens: input.length, costNanoUsd: price && costOf(usage, price), usage };
    const demand = { caller, target, model, metadata, isFirst: false, unreadable: null, estimate };
    const reserved = this.limiter.reserve(demand);
    const record = (limits: LimitReservation) => entry.reserve({ ...attempt, limits, estimate });
    return reserved instanceof Promise ? reserved.then(record) : record(reserved);
  }

  /** Reserves a step of a running session from every limit that applies now. Rejects as `Limiter.reserve` does. */
  reserveStep({ entry, caller, target, estimate, step }: SessionStepRequest): Hold | Promise<Hold> {
    const { model, body } = entry.trail;
    const metadata = metadataOf(entry.asked, body);
    const demand = { caller, target, model, metadata, estimate, step, isFirst: false, unreadable: null };
    const reserved = this.limiter.reserve(demand);
    return reserved instanceof Promise ? reserved.then(({ attempt }) => attempt) : reserved.attempt;
  }

  /** Output tokens assumed for a response without a maximum of its own. */
  get outputCeiling(): number {
    return this.settings.outputTokensCeiling;
  }
}

const UNLIMITED = { limits: null, estimate: null } as const;

/** A request with its target. */
interface PlacedRequest {
  readonly entry: Entry;
  readonly target: Target;
  readonly content: Content;
}

/** The maximum usage of a request at a target. */
export function estimateAt(
  { entry, target, content }: PlacedRequest,
  outputCeiling: number,
): Estimate | Inestimable {
  const name = `${entry.method} /v1${entry.path}`;
  if (content.isWebSocket) return openingEstimate({ entry, target, content }, name);
  return estimateOf({
    charge: entry.chargeAt(target),
    name,
    body: content.fields ?? content.json,
    unreadable: content.unreadable ?? null,
    bodyBytes: Math.max(entry.requestBody.bytes, content.body instanceof Buffer ? content.body.length : 0),
    price: entry.priceAt(target, content.model),
    outputCeiling,
  });
}

/** An open session uses nothing before its client sends something, but must not be opened where nothing may be used. */
function openingEstimate({ entry, target, content }: PlacedRequest, name: string): Estimate | Inestimable {
  if (!isMeasuredSession(entry.path, target.provider.id)) return { problem: 'usage_unknown', detail: name };
  return highestOf(OPENING_USAGES, entry.priceAt(target, content.model));
}

/** The demands of an attempt, computed when a limit reads them: most limits count requests, and read nothing. */
class AttemptDemand implements LimitDemand {
  private estimated: Estimate | Inestimable | null = null;

  constructor(
    private readonly sending: AdmissionRequest,
    readonly caller: Principal,
    private readonly outputCeiling: number,
  ) {}

  get exchange(): Exchange {
    return this.sending.exchange;
  }

  get target(): Target {
    return this.sending.target;
  }

  get isFirst(): boolean {
    return !this.exchange.entry.isAdmitted;
  }

  get model(): string | null {
    return this.sending.content.model;
  }

  get metadata(): LimitDemand['metadata'] {
    return metadataOf(this.exchange.entry.asked, this.sending.content.json);
  }

  get unreadable(): string | null {
    const { wire, content } = this.sending;
    return wire.stored ? null : (content.unreadable ?? null);
  }

  checkRepeated(reader: string): void {
    const { wire, content } = this.sending;
    if (!wire.stored && wire.counted === undefined) checkRepeated(content, reader);
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
    const { target, wire, content } = this.sending;
    const { entry } = this.exchange;
    // A cache hit is a request like any other, but uses nothing. Neither does a count by the gateway, which is not sent.
    if (wire.stored || wire.counted !== undefined) return FREE;
    return estimateAt({ entry, target, content }, this.outputCeiling);
  }
}

/** Whether a limit or a policy needs the fields of a form, including those after its file, before it is sent. */
export function isLimitedForm({ form, fields }: Content, caller: Principal, target: Target): boolean {
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

export function isLimited(caller: Principal, { virtualKey }: Target): boolean {
  return caller.limits !== undefined || (virtualKey !== null && virtualKey.limits !== undefined);
}
