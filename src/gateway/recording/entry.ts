import type { ClientRequest } from '../../common/http/messages.js';
import type { Principal } from '../../auth/principal.js';
import type { Usage } from '../../common/contracts/usage.js';
import type { AttemptRecord, OpenedExchange } from '../../request-log/record.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AppError } from '../../common/errors/app-error.js';
import type { ChargeKind } from '../../providers/charging/charge.js';
import { chargeOf } from '../../providers/charging/index.js';
import type { Endpoint } from '../../providers/endpoint.js';
import { costOf } from '../../providers/prices/cost.js';
import type { Price } from '../../providers/prices/price.js';
import { type GatewayHeaders, NOTHING_ASKED } from '../types/gateway-headers.js';
import type { Estimate } from '../limits/estimate.js';
import { type Actual, type Hold, UNUSED } from '../limits/hold.js';
import type { LogSink, PriceBook } from '../ports.js';
import type { SavedConfig } from '../types/plan.js';
import type { Target } from '../types/target.js';
import type { RecordedAttempt } from './recorded-attempt.js';
import {
  appliedPrice,
  type Bill,
  coveredCost,
  type ModelAtTarget,
  priceFor,
  UNBILLED,
} from './applied-price.js';
import { BodyCapture } from './capture.js';
import { countExchange } from './exchange-metrics.js';
import { broughtCredentials } from './masking.js';
import { lacksOutput, type Reading, UNREAD } from './metering.js';
import {
  attemptRecord,
  closedRecord,
  countableText,
  type EndedAttempt,
  type Findings,
  hasText,
  isUnended,
  openedExchange,
  type ExchangeOutcome,
  type ReservedAttempt,
  reservedAttempt,
} from './records.js';
import { redacted } from './redaction.js';
import { RequestTrail, type Trail } from './trail.js';
import { withUnreported } from './unreported.js';

const DECISIONS_MAX = 32;

/** Where an attempt was made: at this target, on this of two ways of a hedged request. */
interface AttemptPlace {
  readonly target: Target;
  readonly trail: Trail;
}

/** Why an answer is not passed on. */
interface DiscardedAttempt {
  readonly errorCode: string | null;
  /** It was working when it was stopped, so its input counts. */
  readonly isCutOff?: boolean;
}

/** A question beside the request. */
interface Aside {
  readonly errorCode: string | null;
  readonly reading: Reading;
  readonly text: string;
}

/**
 * The recorder of one exchange: gathers what each step found and writes it down, once. Only its methods change it: everyone else holds
 * an `Entry`.
 *
 * `open` is on disk before the first byte goes upstream, `close` before the last goes to the client.
 */
export class ExchangeRecorder implements Findings {
  readonly arrivedAt = performance.now();
  readonly createdAt = Date.now();
  readonly id = uuidV7(this.createdAt);
  traceId = this.id;

  caller: Principal | null = null;
  gatewayKey: string | null = null;
  secrets: readonly string[] = [];
  asked: GatewayHeaders = NOTHING_ASKED;
  endpoint: Endpoint | null = null;
  /** Below `/v1`, as the client sent it. */
  path = '';
  /** The choices of its config and their reasons; null where there was nothing to choose. */
  decisions: string[] | null = null;
  /** The saved config that the request goes by. */
  config: SavedConfig | null = null;
  /** The way that the record tells of: of a hedged request, the first attempt's until the second has won. */
  trail: Trail = new RequestTrail(new BodyCapture(false));
  /** Time the gateway worked, as opposed to waited, milliseconds. Grows until the record is written. */
  overheadMs = 0;
  readonly responseBody = new BodyCapture(false);
  readonly attempts: AttemptRecord[] = [];
  /** What is counted once per request has been counted. */
  isAdmitted = false;

  /** What the request as a whole reserved of limits: settled when it ends. */
  private permit: Hold | null = null;
  /** Records of the attempts under way that hold part of a budget, as they stand if the process dies. */
  private readonly reservations = new Set<AttemptRecord>();
  private opened: OpenedExchange | null = null;
  /** The beginning as the sink wrote it down. */
  private written: string | null = null;
  private isClosed = false;
  /** Set where a usage was added up from several, each at its own price. */
  private priced: { readonly usage: Usage; readonly cost: number | null } | null = null;

  constructor(
    private readonly request: ClientRequest,
    private readonly sink: LogSink,
    private readonly prices: PriceBook,
  ) {}

  get method(): string {
    return this.request.method ?? '';
  }

  /** How the request is charged at a target. A request that never leaves the process is not billed. */
  chargeAt({ provider }: Target): ChargeKind {
    const charge = chargeOf(this.method, this.path, provider.id);
    return charge === 'unmeasured' && provider.inProcess ? 'nothing' : charge;
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders;
  }

  get isOpen(): boolean {
    return this.opened !== null;
  }

  /** Notes why the request goes where it goes. */
  decided(decision: string): void {
    this.decisions ??= [];
    if (this.decisions.length < DECISIONS_MAX) this.decisions.push(decision);
  }

  /** The credential belongs to this caller, who may still be refused. */
  identified(caller: Principal, gatewayKey: string | null): void {
    this.gatewayKey = gatewayKey;
    this.caller = caller;
  }

  /** What the request asks of the gateway itself. */
  asks(options: GatewayHeaders): void {
    this.asked = options;
    this.traceId = options.traceId ?? this.id;
  }

  /** The request is for this endpoint; null where the gateway does not know it. */
  isFor(endpoint: Endpoint | null, path: string): void {
    this.endpoint = endpoint;
    this.path = path;
  }

  /** The request goes by this saved config; null for one that came with the request, or none. */
  goesBy(config: SavedConfig | null): void {
    this.config = config;
  }

  /** Limits have let the request begin. `permit`: what it holds of them as a whole. */
  admitted(permit: Hold | null): void {
    this.isAdmitted = true;
    if (permit) this.permit = permit;
  }

  /** Adds to the time that the gateway worked, milliseconds. */
  worked(ms: number): void {
    this.overheadMs += ms;
  }

  keepBodies(isKept: boolean): void {
    this.trail.requestBody.isKept = isKept;
    this.responseBody.isKept = isKept;
  }

  /** The second attempt of a hedged request has won: the record tells of it, and no more of the first. */
  follows(winner: Trail): void {
    this.trail.release();
    this.trail = winner;
  }

  /**
   * Writes down that the exchange began; resolves when that survives a kill of the process. Throws `log_capacity_exhausted`
   * when it cannot be kept and the caller's organization wants no exchange that is not.
   */
  open(caller: Principal): Promise<void> {
    if (caller.policy?.needsLog && !this.sink.hasRoom) throw new AppError('log_capacity_exhausted');
    this.opened = openedExchange(this, caller, this.request);
    this.written = this.sink.open(this.opened);
    return new Promise((resolve) => {
      this.sink.whenWritten(resolve);
    });
  }

  /** Writes down what an attempt holds of budgets before it is sent. Resolves when that survives a kill of the process. */
  openReservation(reserved: Omit<ReservedAttempt, 'attempt'>): Promise<AttemptRecord> {
    const attempt = this.attempts.length + this.reservations.size;
    const record = reservedAttempt({ ...reserved, attempt });
    this.reservations.add(record);
    if (this.opened) this.sink.update(this.opened, [...this.attempts, ...this.reservations], this.written);
    return new Promise((resolve) => {
      this.sink.whenWritten(() => resolve(record));
    });
  }

  /** The attempt ended, or was never sent. */
  closeReservation(record: AttemptRecord | null): void {
    if (record) this.reservations.delete(record);
  }

  /** Adds the attempt whose answer the client got, or would have got. */
  addAttempt(
    attempt: RecordedAttempt,
    place: AttemptPlace,
    ended: Omit<EndedAttempt, 'countable' | 'isAside'>,
  ): void {
    this.add(attempt, place, ended);
  }

  /**
   * Adds a try whose answer is discarded: it failed, or another target was faster. What it produced is billed all the same:
   * as the provider reported, or else as it is counted later.
   */
  addDiscarded(
    attempt: RecordedAttempt,
    place: AttemptPlace,
    { errorCode, isCutOff = false }: DiscardedAttempt,
  ): void {
    const reading = withUnreported(this, attempt, place, attempt.partial ?? UNREAD);
    const hasUnread = hasText(reading) || (reading.usage === null && isCutOff && attempt.wasSent);
    const countable =
      lacksOutput(reading) && hasUnread ? this.countableOf(attempt, place.trail, reading) : null;
    this.add(attempt, place, { errorCode, reading, countable });
  }

  /**
   * Adds what the gateway asked somebody for the request's sake. Where its answer reported no usage, `text` is counted, which is
   * what it was asked about.
   */
  addAside(attempt: RecordedAttempt, target: Target, { errorCode, reading, text }: Aside): void {
    const isBilled = reading.usage === null && attempt.wasSent && attempt.status < 400;
    const countable = isBilled ? { model: attempt.model, input: text, output: '' } : null;
    this.add(attempt, { target, trail: this.trail }, { errorCode, reading, countable, isAside: true });
  }

  private countableOf(
    { model }: RecordedAttempt,
    { body }: Trail,
    reading: Reading,
  ): AttemptRecord['countable'] | null {
    const { endpoint } = this;
    if (!endpoint?.usage || !body) return null;
    return { model, ...countableText(endpoint.usage, body, reading) };
  }

  private add(attempt: RecordedAttempt, { target, trail }: AttemptPlace, added: EndedAttempt): void {
    const { errorCode, reading, countable } = added;
    this.closeReservation(attempt.reservation);
    attempt.reservation = null;
    // What came from the cache was no try: no provider was called, and nothing is owed.
    if (attempt.isReplayed) {
      attempt.hold?.settle(UNUSED);
      attempt.hold = null;
      return;
    }
    // A form may name its model behind the file, when the attempt is on its way.
    const model = attempt.model ?? trail.model;
    const isCounted = isCountedLater(added, trail);
    const { cost, price } = this.billed(added, { target, model }, attempt.reserved, isCounted);
    const record = attemptRecord(attempt, target, {
      attempt: this.attempts.length,
      option_path: attempt.option,
      error_code: errorCode,
      usage: reading.usage,
      cost_nano_usd: cost,
    });
    const { hold } = attempt;
    attempt.hold = null;
    // Nothing of the request may hang on a connection that lives on.
    attempt.target = null;
    attempt.partial = null;
    if (price) record.price = price;
    if (isUnended(attempt, added.isComplete)) record.isEstimated = true;
    if (added.isAside) record.isAside = true;
    if (countable) record.countable = countable;
    if (hold) {
      const charges = hold.settle(actualOf(added, cost, isCounted));
      if (charges.length > 0) record.charges = charges;
    }
    this.attempts.push(record);
  }

  private billed(
    { reading: { usage, responseModel } }: EndedAttempt,
    priced: ModelAtTarget,
    reserved: Estimate | null,
    isCounted: boolean,
  ): Bill {
    if (usage !== null && usage === this.priced?.usage) return { cost: this.priced.cost, price: null };
    const found = usage || isCounted ? priceFor(this.prices, responseModel, priced) : null;
    if (!found) return UNBILLED;
    const { price, source, model } = found;
    const cost = usage && coveredCost(usage, price, reserved);
    return { cost, price: appliedPrice(price, source, model) };
  }

  /**
   * Writes down how the exchange ended, once; later calls do nothing. `then` runs when that survives a
   * kill of the process. Without an identified caller nothing is written: such a request is not an exchange.
   */
  close(outcome: ExchangeOutcome, then: () => void): void {
    this.permit?.settle(UNUSED);
    this.permit = null;
    if (this.isClosed || !this.caller) {
      then();
      return;
    }
    this.isClosed = true;
    const { headers } = this.request;
    const opened = this.opened ?? openedExchange(this, this.caller, this.request);
    const secrets = (this.secrets = this.credentials());
    const record = closedRecord(this, opened, outcome);
    countExchange(record);
    const request = this.trail.requestBody.taken(headers['content-type'], headers['content-encoding']);
    const response = this.responseBody.taken(outcome.contentType, outcome.contentEncoding);
    const bodies = {
      request: redacted(request, secrets),
      response: redacted(response, secrets, outcome.status >= 400),
    };
    this.sink.close(record, bodies, this.written);
    this.sink.whenWritten(() => {
      this.trail.release();
      this.responseBody.release();
      then();
    });
  }

  /** What a usage would have cost at the target, nano-dollars; null when the price is unknown. Nothing is owed for it. */
  worth(usage: Usage, responseModel: string | null): number | null {
    const { target, model } = this.trail;
    const found = target && priceFor(this.prices, responseModel, { target, model });
    return found && costOf(usage, found.price);
  }

  /** What a usage costs where it was added up from several, each at its own price. */
  knowCost(usage: Usage, cost: number | null): void {
    this.priced = { usage, cost };
  }

  /** What must not stand in a kept body or header: the caller's gateway key, and the provider's credential, whoever brought it. */
  private credentials(): string[] {
    const stored = this.trail.target?.credentials.key;
    const secrets = stored ? [stored.reveal()] : broughtCredentials(this.request.headers);
    if (this.gatewayKey !== null) secrets.push(this.gatewayKey);
    return secrets;
  }

  /** The price in force for a model at a place; null when it is unknown. */
  priceAt({ virtualKey, provider }: Target, model: string | null): Price | null {
    if (model === null) return null;
    return virtualKey?.prices?.get(model) ?? this.prices.find(provider.id, model);
  }
}

function isCountedLater({ countable, reading, isCut }: EndedAttempt, { body }: Trail): boolean {
  if (countable !== undefined) return countable !== null;
  return lacksOutput(reading) && (hasText(reading) || isCut === true) && body !== null;
}

function actualOf(
  { reading: { usage } }: EndedAttempt,
  costNanoUsd: number | null,
  isCounted: boolean,
): Actual {
  const tokens = usage && usage.input_tokens + usage.output_tokens;
  return { costNanoUsd, tokens, isCountedLater: isCounted };
}

/** What is recorded of an exchange, as its readers see it. */
export type Entry = Readonly<ExchangeRecorder>;
