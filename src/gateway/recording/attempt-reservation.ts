import type { AttemptRecord, Charge } from '../../request-log/record.js';
import type { Estimate } from '../types/estimate.js';
import { type LimitHold, type LimitReservation, UNUSED } from '../types/limit-reservation.js';
import type { PriceBook } from '../ports.js';
import type { RecordedTry } from '../types/attempt-outcome.js';
import { type AttemptTrail, modelOf } from '../types/attempt-trail.js';
import type { Target } from '../types/target.js';
import {
  appliedPrice,
  type Bill,
  coveredCost,
  type ModelAtTarget,
  priceFor,
  UNBILLED,
} from './applied-price.js';
import {
  actualOf,
  attemptRecord,
  type EndedAttempt,
  isCountedLater,
  markRecord,
  type ReservedAttempt,
  reservedAttempt,
} from './attempt-columns.js';
import { hasText, lacksOutput, type Reading, UNREAD } from './reading.js';
import { countableText, type RecordedExchange } from './record-of.js';
import { withUnreported } from './unreported.js';

/** An attempt about to be sent. */
export interface ReservingAttempt {
  readonly exchange: Pick<RecordedExchange, 'facts' | 'bodies'>;
  readonly target: Target;
  /** The target's path in the config. */
  readonly option: string;
  /** The model there; null if it is not known yet. */
  readonly model: string | null;
  /** Null without limits. */
  readonly limits: LimitReservation | null;
  /** Its maximum usage; null if no limit counts tokens or money. */
  readonly estimate: Estimate | null;
  /** It is a side call of the gateway, not the request itself. */
  readonly isSideCall?: true;
}

/** The attempts of one exchange: those that ended, and what the running ones have reserved. */
export interface AttemptLedger {
  readonly prices: PriceBook;
  /** Output tokens assumed for a request that sets no maximum itself. */
  readonly outputCeiling: number;
  readonly ended: AttemptRecord[];
  /** Records of running attempts with budget reservations, as they are stored if the process dies. */
  readonly running: Set<AttemptRecord>;
  /** Stores both. Resolves when they would survive a kill of the process. */
  store(): Promise<void>;
}

/** Why a response is not passed on. */
export interface DiscardedAttempt {
  readonly errorCode: string | null;
  /** Its provider was working when it was cancelled, so its input counts. */
  readonly isCutOff?: boolean;
  /** What its response reported. Default: what was read of it before. */
  readonly reading?: Reading;
}

/** The result of a side call. */
interface SideCall {
  readonly errorCode: string | null;
  readonly reading: Reading;
  /** Its input. */
  readonly text: string;
}

/** A part of a session, whose limits are settled already. */
export interface SettledPart {
  readonly errorCode: string | null;
  readonly reading: Reading;
  /** In nano-dollars; null when it is unknown. */
  readonly cost: number | null;
  readonly charges: readonly Charge[];
  readonly isEstimated: boolean;
  /** Another part follows. */
  readonly isEarlier: boolean;
}

/** A use of budgets, at the target of the attempt. */
export type ReservedUse = Pick<ReservedAttempt, 'charges' | 'estimate' | 'startedAt'>;

/**
 * What one try has reserved, from before it is sent until it is in the record. It is settled exactly once: later calls do nothing, so that
 * a try which lost against another target may still fail.
 */
export class AttemptReservation {
  /** What its response has reported before it was chosen: charged if it is discarded. Only the first-token gate sets it. */
  partial: Reading = UNREAD;
  private records: readonly AttemptRecord[] = [];
  private isSettled = false;

  constructor(
    private readonly ledger: AttemptLedger,
    private readonly reserving: ReservingAttempt,
  ) {}

  get target(): Target {
    return this.reserving.target;
  }

  /** Null without limits. */
  get hold(): LimitHold | null {
    return this.reserving.limits?.attempt ?? null;
  }

  /** Replaces what is recorded if the process dies before the try ends. Resolves when that would survive a kill of the process. */
  store(uses: readonly ReservedUse[]): Promise<void> {
    const { ended, running } = this.ledger;
    const { option, target } = this.reserving;
    this.forget();
    this.records = uses.map((use, at) => {
      const attempt = ended.length + running.size + at;
      return reservedAttempt({ ...use, option, target, attempt });
    });
    for (const record of this.records) running.add(record);
    return this.ledger.store();
  }

  /** Returns everything: the try was never sent. */
  release(): void {
    if (this.settleOnce()) this.hold?.settle(UNUSED);
  }

  /**
   * Records the try whose response the client received, or would have received. Returns its reading, with the usage that the response did
   * not report.
   */
  settleDelivered(
    tried: RecordedTry,
    trail: AttemptTrail,
    delivered: Pick<EndedAttempt, 'errorCode' | 'reading' | 'isCut' | 'isComplete'>,
  ): Reading {
    const { errorCode, isCut, isComplete } = delivered;
    const reading = this.withUnreported(tried, trail, delivered);
    this.settle(tried, trail, { errorCode, reading, isCut, isComplete });
    return reading;
  }

  /**
   * Records a try whose response is discarded: it failed, or another target was faster. Its output is billed all the same: as reported by
   * the provider, or as counted later.
   */
  settleDiscarded(tried: RecordedTry, trail: AttemptTrail, discarded: DiscardedAttempt): void {
    const { errorCode, isCutOff, reading: reported = this.partial } = discarded;
    const reading = this.withUnreported(tried, trail, { reading: reported, isCutOff });
    const countable = lacksOutput(reading) && hasText(reading) ? this.countableOf(trail, reading) : null;
    this.settle(tried, trail, { errorCode, reading, countable });
  }

  /** Records a side call. If its response reported no usage, the tokens of its input are counted. */
  settleSideCall(tried: RecordedTry, trail: AttemptTrail, { errorCode, reading, text }: SideCall): void {
    const isBilled = reading.usage === null && tried.wasSent && tried.status < 400;
    const countable = isBilled ? { model: this.reserving.model, input: text, output: '' } : null;
    this.settle(tried, trail, { errorCode, reading, countable, isSideCall: true });
  }

  /** Records a session, each part at its own cost. */
  settleSession(tried: RecordedTry, parts: readonly SettledPart[]): void {
    if (!this.settleOnce()) return;
    for (const { isEarlier, cost, charges, ...part } of parts) {
      const ended: EndedAttempt = isEarlier ? { ...part, isSideCall: true } : part;
      this.record(tried, ended, { bill: { cost: part.reading.usage && cost, price: null }, charges });
    }
  }

  private settle(tried: RecordedTry, trail: AttemptTrail, ended: EndedAttempt): void {
    if (!this.settleOnce()) return;
    const { hold } = this;
    // A cache hit is not a try: no provider was called, and nothing is charged.
    if (tried.isReplayed) {
      hold?.settle(UNUSED);
      return;
    }
    const { target, model } = this.reserving;
    const isCounted = isCountedLater(ended, trail);
    // A form may name its model after the file, when the attempt is already running.
    const bill = this.billOf(ended.reading, { target, model: model ?? modelOf(trail) }, isCounted);
    const charges = hold?.settle(actualOf(ended, bill.cost, isCounted)) ?? NO_CHARGES;
    this.record(tried, ended, { bill, charges });
  }

  private record(tried: RecordedTry, ended: EndedAttempt, { bill, charges }: Settlement): void {
    const { option, target } = this.reserving;
    const record = attemptRecord(tried, target, {
      attempt: this.ledger.ended.length,
      option_path: option,
      error_code: ended.errorCode,
      usage: ended.reading.usage,
      cost_nano_usd: bill.cost,
    });
    markRecord(record, tried, ended, bill.price);
    if (charges.length > 0) record.charges = charges;
    this.ledger.ended.push(record);
  }

  private billOf(
    { usage, responseModel, assumed }: Reading,
    priced: ModelAtTarget,
    isCounted: boolean,
  ): Bill {
    const found = usage || isCounted ? priceFor(this.ledger.prices, responseModel, priced) : null;
    if (!found) return UNBILLED;
    const { price, source, model } = found;
    const cost = usage && coveredCost(usage, price, this.reserving.estimate ?? assumed ?? null);
    return { cost, price: appliedPrice(price, source, model) };
  }

  private withUnreported(
    tried: RecordedTry,
    trail: AttemptTrail,
    { reading, isCutOff }: { readonly reading: Reading; readonly isCutOff?: boolean | undefined },
  ): Reading {
    if (isReported(reading)) return reading;
    const { exchange, target, estimate } = this.reserving;
    const { prices, outputCeiling } = this.ledger;
    const { facts, bodies } = exchange;
    const charged = { facts, bodyBytes: bodies.request.bytes, prices, outputCeiling };
    return withUnreported(charged, { tried, target, trail, estimate, reading, isCutOff });
  }

  private countableOf({ body }: AttemptTrail, reading: Reading): AttemptRecord['countable'] | null {
    const { endpoint } = this.reserving.exchange.facts;
    if (!endpoint?.usage || !body) return null;
    return { model: this.reserving.model, ...countableText(endpoint.usage, body, reading) };
  }

  private settleOnce(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.forget();
    return true;
  }

  private forget(): void {
    for (const record of this.records) this.ledger.running.delete(record);
    this.records = [];
  }
}

/** The usage that the provider reported counts: there is no text that contradicts it. */
const isReported = ({ usage, outputText }: Reading): boolean => usage !== null && outputText === '';

/** What a try is charged. */
interface Settlement {
  readonly bill: Bill;
  readonly charges: readonly Charge[];
}

const NO_CHARGES: readonly Charge[] = [];
