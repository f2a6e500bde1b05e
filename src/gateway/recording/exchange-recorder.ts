import type { ClientRequest } from '../../common/http/messages.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import type { AttemptRecord, OpenedExchange } from '../../request-log/record.js';
import { AppError } from '../../common/errors/app-error.js';
import { type LimitHold, UNUSED } from '../types/limit-reservation.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { LogSink, PriceBook } from '../ports.js';
import { NO_OPTIONS } from '../types/gateway-headers.js';
import { type AttemptTrail, NO_TRAIL } from '../types/attempt-trail.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import { logAccess } from './access-log.js';
import { type AttemptLedger, AttemptReservation, type ReservingAttempt } from './attempt-reservation.js';
import { bodyCaptures } from './capture.js';
import { countExchange } from './exchange-metrics.js';
import { clientCredentials, redacted } from './masking.js';
import { type ExchangeOutcome, openedExchange, type RecordedExchange, recordOf } from './record-of.js';

/** A request at its first target, before it is sent. */
interface OpeningExchange {
  readonly request: ClientRequest;
  readonly facts: ExchangeFacts;
  readonly caller: Principal;
  readonly trail: AttemptTrail;
  /** How long the client took to send it, in milliseconds. */
  readonly waitedMs: number;
}

/**
 * The recorder of one exchange. Steps return values; the recorder receives them when the exchange is opened, when a try reserves, and when
 * the exchange is closed. What it keeps in between is what a kill of the process must not lose.
 *
 * `open` is on disk before the first byte goes upstream, `close` before the last goes to the client.
 */
export class ExchangeRecorder {
  private workedMs = 0;
  private hasReserved = false;
  /** The reservations of the request as a whole: settled when it ends. */
  private requestHold: LimitHold | null = null;
  private opened: OpenedExchange | null = null;
  /** The opening record as the sink wrote it. */
  private written: string | null = null;
  private isClosed = false;
  private readonly ledger: AttemptLedger;

  constructor(
    private readonly sink: LogSink,
    private readonly prices: PriceBook,
    /** Output tokens assumed for a request that sets no maximum itself. */
    outputCeiling: number,
  ) {
    const store = (): Promise<void> => this.store();
    this.ledger = { prices, outputCeiling, ended: [], running: new Set(), store };
  }

  get isOpen(): boolean {
    return this.opened !== null;
  }

  /** Limits that count once per request have counted it. */
  get isAdmitted(): boolean {
    return this.hasReserved;
  }

  /** Time that the gateway spent working, not waiting, in milliseconds: until the exchange was opened, then until it was closed. */
  get overheadMs(): number {
    return this.workedMs;
  }

  /**
   * Records the beginning of the exchange; resolves when that would survive a kill of the process. Throws `log_capacity_exhausted` when it
   * cannot be stored and the caller's organization requires logging.
   */
  open({ request, facts, caller, trail, waitedMs }: OpeningExchange): Promise<void> {
    this.workedMs = performance.now() - facts.arrivedAt - waitedMs;
    if (caller.policy?.needsLog && !this.sink.hasSpace) throw new AppError('log_capacity_exhausted');
    this.opened = openedExchange(request, facts, caller, trail);
    this.written = this.sink.open(this.opened);
    return this.whenWritten();
  }

  /**
   * Reserves a try before it is sent. With a budget, resolves when the reservation would survive a kill of the process; otherwise returns at
   * once.
   */
  reserve(attempt: ReservingAttempt): AttemptReservation | Promise<AttemptReservation> {
    const { limits, estimate, isSideCall } = attempt;
    if (limits && !isSideCall) {
      this.hasReserved = true;
      this.requestHold = limits.request ?? this.requestHold;
    }
    const reservation = new AttemptReservation(this.ledger, attempt);
    if (!limits || !estimate) return reservation;
    const charges = limits.attempt.reservation;
    return charges.length === 0
      ? reservation
      : reservation.store([{ charges, estimate }]).then(() => reservation);
  }

  /**
   * Records how the exchange ended, once; later calls do nothing. `then` runs when that would survive a kill of the process. Without an
   * authenticated caller, nothing is written: such a request is not an exchange.
   */
  close(exchange: RecordedExchange, outcome: ExchangeOutcome, then: () => void): void {
    const endedAt = performance.now();
    if (typeof outcome.answeredAt === 'number') this.workedMs += endedAt - outcome.answeredAt;
    this.requestHold?.settle(UNUSED);
    this.requestHold = null;
    const { caller } = exchange.facts;
    if (this.isClosed || !caller) return then();
    this.isClosed = true;
    this.write(exchange, caller, { outcome, endedAt });
    this.sink.whenWritten(() => {
      exchange.bodies.request.release();
      exchange.bodies.response.release();
      then();
    });
  }

  private write(
    exchange: RecordedExchange,
    caller: Principal,
    { outcome, endedAt }: { readonly outcome: ExchangeOutcome; readonly endedAt: number },
  ): void {
    const { request, facts, trail, bodies } = exchange;
    const opened = this.opened ?? openedExchange(request, facts, caller, trail);
    const secrets = secretsOf(exchange);
    const record = recordOf(exchange, {
      opened,
      outcome,
      endedAt,
      secrets,
      attempts: this.ledger.ended,
      overheadMs: this.workedMs,
      prices: this.prices,
    });
    countExchange(record);
    logAccess({ record, request, caller, error: outcome.error ?? null });
    if (trail.redactedBody) bodies.request.replace(trail.redactedBody);
    const { headers } = request;
    const sent = bodies.request.taken(headers['content-type'], headers['content-encoding']);
    const received = bodies.response.taken(outcome.contentType, outcome.contentEncoding);
    const captured = {
      request: redacted(sent, secrets),
      response: redacted(received, secrets, outcome.status >= 400),
    };
    this.sink.close(record, captured, this.written);
  }

  /** Stores the attempts so far. Resolves when they would survive a kill of the process. */
  private store(): Promise<void> {
    const { ended, running } = this.ledger;
    const attempts: readonly AttemptRecord[] = [...ended, ...running];
    if (this.opened) this.sink.update(this.opened, attempts, this.written);
    return this.whenWritten();
  }

  private whenWritten(): Promise<void> {
    return new Promise((resolve) => {
      this.sink.whenWritten(resolve);
    });
  }
}

/**
 * Secrets that must not appear in a logged body or header: the caller's gateway key, and the provider's credential, stored or the caller's.
 */
function secretsOf({ request, facts, trail }: RecordedExchange): string[] {
  const stored = trail.target?.credentials.key;
  const secrets = stored ? [stored.reveal()] : clientCredentials(request.headers);
  if (facts.gatewayKey !== null) secrets.push(facts.gatewayKey);
  return secrets;
}

/** An exchange whose request has just arrived. */
export interface BegunExchange extends RecordedExchange {
  readonly recorder: ExchangeRecorder;
}

const NO_DECISIONS: readonly string[] = [];

/** Begins the records of exchanges. */
@Injectable()
export class ExchangeRecorders {
  constructor(
    private readonly sink: LogSink,
    private readonly prices: PriceBook,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'outputTokensCeiling'>,
  ) {}

  begin(request: ClientRequest): BegunExchange {
    return {
      request,
      recorder: new ExchangeRecorder(this.sink, this.prices, this.settings.outputTokensCeiling),
      facts: factsOnArrival(request.method ?? ''),
      bodies: bodyCaptures(false),
      trail: NO_TRAIL,
      decisions: NO_DECISIONS,
    };
  }
}

/** The facts of a request that has just arrived. */
function factsOnArrival(method: string): ExchangeFacts {
  const createdAt = Date.now();
  const id = uuidV7(createdAt);
  return {
    id,
    createdAt,
    arrivedAt: performance.now(),
    method,
    caller: null,
    gatewayKey: null,
    options: NO_OPTIONS,
    traceId: id,
    endpoint: null,
    path: '',
    config: null,
  };
}
