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
import { type Hold, UNUSED } from '../limits/hold.js';
import type { LogSink, PriceBook } from '../ports.js';
import { type AttemptTrail, modelOf, NO_TRAIL } from '../types/attempt-trail.js';
import type { SavedConfig } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { actualOf, isCountedLater, markRecord } from './attempt-columns.js';
import type { RecordedAttempt } from './recorded-attempt.js';
import {
  appliedPrice,
  type Bill,
  coveredCost,
  type ModelAtTarget,
  ownPrice,
  priceFor,
  UNBILLED,
} from './applied-price.js';
import { logAccess } from './access-log.js';
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
  openedExchange,
  type ExchangeOutcome,
  type ReservedAttempt,
  reservedAttempt,
} from './records.js';
import { redacted } from './redaction.js';
import { withUnreported } from './unreported.js';

const DECISIONS_MAX = 32;

/** The target of an attempt, and its trail, of which a hedged request has two. */
interface AttemptPlace {
  readonly target: Target;
  readonly trail: AttemptTrail;
}

/** Why a response is not passed on. */
export interface DiscardedAttempt {
  readonly errorCode: string | null;
  /** Its provider was working when it was cancelled, so its input counts. */
  readonly isCutOff?: boolean;
}

/** The result of a side call. */
interface Aside {
  readonly errorCode: string | null;
  readonly reading: Reading;
  readonly text: string;
}

/**
 * The recorder of one exchange: collects the results of the steps and writes them once. Only its methods change it: all other code holds an
 * `Entry`.
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
  /** The choices of its config with their reasons; null if there was nothing to choose. */
  decisions: string[] | null = null;
  /** The saved config of the request. */
  config: SavedConfig | null = null;
  /** The trail of the request as it was read, then the one of the attempt that decided its outcome. */
  trail: AttemptTrail = NO_TRAIL;
  /** Time spent working, not waiting, in milliseconds. Grows until the record is written. */
  overheadMs = 0;
  readonly requestBody = new BodyCapture(false);
  readonly responseBody = new BodyCapture(false);
  readonly attempts: AttemptRecord[] = [];
  /** Limits that count once per request have counted it. */
  isAdmitted = false;

  /** The reservations of the request as a whole: settled when it ends. */
  private permit: Hold | null = null;
  /** Records of running attempts with budget reservations, as they are stored if the process dies. */
  private readonly reservations = new Set<AttemptRecord>();
  private opened: OpenedExchange | null = null;
  /** The opening record as the sink wrote it. */
  private written: string | null = null;
  private isClosed = false;
  /** Set if a usage is the sum of several, each at its own price. */
  private priced: { readonly usage: Usage; readonly cost: number | null } | null = null;

  constructor(
    readonly request: ClientRequest,
    private readonly sink: LogSink,
    private readonly prices: PriceBook,
    /** Output tokens assumed for a request that sets no maximum itself. */
    readonly outputCeiling: number,
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

  /** Records the reason for a choice of target. */
  decided(decision: string): void {
    this.decisions ??= [];
    if (this.decisions.length < DECISIONS_MAX) this.decisions.push(decision);
  }

  /** Sets the authenticated caller, who may still be refused. */
  identified(caller: Principal, gatewayKey: string | null): void {
    this.gatewayKey = gatewayKey;
    this.caller = caller;
  }

  /** Sets the request's gateway options. */
  asks(options: GatewayHeaders): void {
    this.asked = options;
    this.traceId = options.traceId ?? this.id;
  }

  /** Sets the client's session, which groups its requests; null for none. */
  belongsTo(session: string | null): void {
    if (session !== null) this.traceId = session;
  }

  /** Sets the endpoint of the request; null if it is unknown. */
  isFor(endpoint: Endpoint | null, path: string): void {
    this.endpoint = endpoint;
    this.path = path;
  }

  /** Sets the saved config of the request; null for a config in the request, or none. */
  goesBy(config: SavedConfig | null): void {
    this.config = config;
  }

  /** The limits have admitted the request. `permit`: its reservations of the request as a whole. */
  admitted(permit: Hold | null): void {
    this.isAdmitted = true;
    if (permit) this.permit = permit;
  }

  /** Adds to the time that the gateway spent working, in milliseconds. */
  worked(ms: number): void {
    this.overheadMs += ms;
  }

  keepBodies(isKept: boolean): void {
    this.requestBody.isKept = isKept;
    this.responseBody.isKept = isKept;
  }

  /** Sets the trail to record. */
  follows(trail: AttemptTrail): void {
    this.trail = trail;
  }

  /** The request was routed: sets the trail of its outcome, and the choices that led there. */
  routed(trail: AttemptTrail, decisions: readonly string[]): void {
    this.trail = trail;
    if (decisions.length > 0)
      this.decisions = [...decisions, ...(this.decisions ?? [])].slice(0, DECISIONS_MAX);
  }

  /**
   * Records the beginning of the exchange; resolves when that would survive a kill of the process. Throws `log_capacity_exhausted` when it
   * cannot be stored and the caller's organization requires logging.
   */
  open(caller: Principal, trail: AttemptTrail): Promise<void> {
    if (caller.policy?.needsLog && !this.sink.hasRoom) throw new AppError('log_capacity_exhausted');
    this.opened = openedExchange(this, caller, trail);
    this.written = this.sink.open(this.opened);
    return new Promise((resolve) => {
      this.sink.whenWritten(resolve);
    });
  }

  /** Records an attempt's budget reservations before it is sent. Resolves when that would survive a kill of the process. */
  openReservation(reserved: Omit<ReservedAttempt, 'attempt'>): Promise<AttemptRecord> {
    const attempt = this.attempts.length + this.reservations.size;
    const record = reservedAttempt({ ...reserved, attempt });
    this.reservations.add(record);
    if (this.opened) this.sink.update(this.opened, [...this.attempts, ...this.reservations], this.written);
    return new Promise((resolve) => {
      this.sink.whenWritten(() => resolve(record));
    });
  }

  /**
   * Replaces the record of a running session: its use so far, and what it has reserved. Resolves when that would survive a kill of the
   * process.
   */
  keepSoFar(session: readonly Omit<ReservedAttempt, 'attempt'>[]): Promise<void> {
    this.reservations.clear();
    for (const reserved of session) {
      const attempt = this.attempts.length + this.reservations.size;
      this.reservations.add(reservedAttempt({ ...reserved, attempt }));
    }
    if (this.opened) this.sink.update(this.opened, [...this.attempts, ...this.reservations], this.written);
    return new Promise((resolve) => {
      this.sink.whenWritten(resolve);
    });
  }

  /** The attempt ended, or was never sent. */
  closeReservation(record: AttemptRecord | null): void {
    if (record) this.reservations.delete(record);
  }

  /** Adds the attempt whose response the client received, or would have received. `isAside`: an earlier part of a session. */
  addAttempt(attempt: RecordedAttempt, place: AttemptPlace, ended: Omit<EndedAttempt, 'countable'>): void {
    this.add(attempt, place, ended);
  }

  /**
   * Adds a try whose response is discarded: it failed, or another target was faster. Its output is billed all the same: as reported by the
   * provider, or as counted later.
   */
  addDiscarded(
    attempt: RecordedAttempt,
    place: AttemptPlace,
    { errorCode, isCutOff = false }: DiscardedAttempt,
  ): void {
    const reading = withUnreported(this, attempt, place, { reading: attempt.partial ?? UNREAD, isCutOff });
    const countable =
      lacksOutput(reading) && hasText(reading) ? this.countableOf(attempt, place.trail, reading) : null;
    this.add(attempt, place, { errorCode, reading, countable });
  }

  /** Adds a side call of the request. If its response reported no usage, the tokens of its input `text` are counted. */
  addAside(attempt: RecordedAttempt, target: Target, { errorCode, reading, text }: Aside): void {
    const isBilled = reading.usage === null && attempt.wasSent && attempt.status < 400;
    const countable = isBilled ? { model: attempt.model, input: text, output: '' } : null;
    this.add(attempt, { target, trail: this.trail }, { errorCode, reading, countable, isAside: true });
  }

  private countableOf(
    { model }: RecordedAttempt,
    { body }: AttemptTrail,
    reading: Reading,
  ): AttemptRecord['countable'] | null {
    const { endpoint } = this;
    if (!endpoint?.usage || !body) return null;
    return { model, ...countableText(endpoint.usage, body, reading) };
  }

  private add(attempt: RecordedAttempt, { target, trail }: AttemptPlace, added: EndedAttempt): void {
    const { errorCode, reading } = added;
    this.closeReservation(attempt.reservation);
    attempt.reservation = null;
    // A cache hit is not a try: no provider was called, and nothing is charged.
    if (attempt.isReplayed) {
      attempt.hold?.settle(UNUSED);
      attempt.hold = null;
      return;
    }
    // A form may name its model after the file, when the attempt is already running.
    const model = attempt.model ?? modelOf(trail);
    const isCounted = isCountedLater(added, trail);
    const reserved = attempt.reserved ?? reading.assumed ?? null;
    const { cost, price } = this.billed(added, { target, model }, reserved, isCounted);
    const record = attemptRecord(attempt, target, {
      attempt: this.attempts.length,
      option_path: attempt.option,
      error_code: errorCode,
      usage: reading.usage,
      cost_nano_usd: cost,
    });
    const { hold } = attempt;
    attempt.hold = null;
    // A connection that stays open must not reference the request.
    attempt.target = null;
    attempt.partial = null;
    markRecord(record, attempt, added, price);
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
   * Records how the exchange ended, once; later calls do nothing. `then` runs when that would survive a kill of the process. Without an
   * authenticated caller, nothing is written: such a request is not an exchange.
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
    const opened = this.opened ?? openedExchange(this, this.caller, this.trail);
    const secrets = (this.secrets = this.credentials());
    const record = closedRecord(this, opened, outcome);
    countExchange(record);
    logAccess({ record, caller: this.caller, error: outcome.error ?? null });
    if (this.trail.redactedBody) this.requestBody.replace(this.trail.redactedBody);
    const request = this.requestBody.taken(headers['content-type'], headers['content-encoding']);
    const response = this.responseBody.taken(outcome.contentType, outcome.contentEncoding);
    const bodies = {
      request: redacted(request, secrets),
      response: redacted(response, secrets, outcome.status >= 400),
    };
    this.sink.close(record, bodies, this.written);
    this.sink.whenWritten(() => {
      this.requestBody.release();
      this.responseBody.release();
      then();
    });
  }

  /** The cost that a usage would have had at the target, in nano-dollars; null when the price is unknown. Nothing is charged for it. */
  worth(usage: Usage, responseModel: string | null): number | null {
    const { target } = this.trail;
    const found = target && priceFor(this.prices, responseModel, { target, model: modelOf(this.trail) });
    return found && costOf(usage, found.price);
  }

  /** Sets the cost of a usage that is the sum of several, each at its own price. */
  knowCost(usage: Usage, cost: number | null): void {
    this.priced = { usage, cost };
  }

  /**
   * Secrets that must not appear in a logged body or header: the caller's gateway key, and the provider's credential, stored or the
   * caller's.
   */
  private credentials(): string[] {
    const stored = this.trail.target?.credentials.key;
    const secrets = stored ? [stored.reveal()] : broughtCredentials(this.request.headers);
    if (this.gatewayKey !== null) secrets.push(this.gatewayKey);
    return secrets;
  }

  /** The current price of a model at a target; null when it is unknown. */
  priceAt({ virtualKey, provider }: Target, model: string | null): Price | null {
    if (model === null) return null;
    const own = virtualKey?.prices && ownPrice(virtualKey.prices, model, provider.id);
    return own ?? this.prices.find(provider.id, model);
  }
}

/** The exchange record as its readers see it. */
export type Entry = Readonly<ExchangeRecorder>;
