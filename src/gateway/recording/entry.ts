import type { ClientRequest } from '../../common/http/messages.js';
import type { Principal } from '../../auth/principal.js';
import type { Usage } from '../../common/contracts/usage.js';
import type { AttemptRecord, Charge, OpenedExchange } from '../../request-log/record.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AppError } from '../../common/errors/app-error.js';
import type { ChargeKind } from '../../providers/charging/charge.js';
import { chargeOf } from '../../providers/charging/index.js';
import type { Endpoint } from '../../providers/endpoint.js';
import { costOf } from '../../providers/prices/cost.js';
import type { Price } from '../../providers/prices/price.js';
import { type GatewayHeaders, NOTHING_ASKED } from '../types/gateway-headers.js';
import { type Hold, UNUSED } from '../limits/hold.js';
import type { LogSink, PriceBook } from '../ports.js';
import { type AttemptTrail, modelOf, NO_TRAIL } from '../types/attempt-trail.js';
import type { SavedConfig } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { ownPrice, priceFor } from './applied-price.js';
import { type AttemptLedger, AttemptReservation, type ReservingAttempt } from './attempt-reservation.js';
import { logAccess } from './access-log.js';
import { BodyCapture } from './capture.js';
import { countExchange } from './exchange-metrics.js';
import { broughtCredentials } from './masking.js';
import { closedRecord, type ExchangeOutcome, type Findings, openedExchange } from './records.js';
import { redacted } from './redaction.js';

const DECISIONS_MAX = 32;
const NO_CHARGES: readonly Charge[] = [];

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
  private opened: OpenedExchange | null = null;
  /** The opening record as the sink wrote it. */
  private written: string | null = null;
  private isClosed = false;
  private readonly ledger: AttemptLedger;

  constructor(
    readonly request: ClientRequest,
    private readonly sink: LogSink,
    private readonly prices: PriceBook,
    /** Output tokens assumed for a request that sets no maximum itself. */
    readonly outputCeiling: number,
  ) {
    const store = (): Promise<void> => this.store();
    this.ledger = { exchange: this, prices, ended: this.attempts, running: new Set(), store };
  }

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

  /**
   * Reserves a try before it is sent. With a budget, resolves when the reservation would survive a kill of the process; otherwise returns at
   * once.
   */
  reserve(attempt: ReservingAttempt): AttemptReservation | Promise<AttemptReservation> {
    const { limits, estimate, isSideCall } = attempt;
    if (limits && !isSideCall) {
      this.isAdmitted = true;
      if (limits.request) this.permit = limits.request;
    }
    const reservation = new AttemptReservation(this.ledger, attempt);
    const charges = estimate && limits ? limits.attempt.reservation : NO_CHARGES;
    if (!estimate || charges.length === 0) return reservation;
    return reservation.store([{ charges, estimate }]).then(() => reservation);
  }

  private store(): Promise<void> {
    const { ended, running } = this.ledger;
    if (this.opened) this.sink.update(this.opened, [...ended, ...running], this.written);
    return new Promise((resolve) => {
      this.sink.whenWritten(resolve);
    });
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
