import type { PresentedCredential } from '../../auth/identity/credentials.js';
import type { ClientResponse } from '../../common/http/messages.js';
import type { AppError } from '../../common/errors/app-error.js';
import type { RosterMember } from '../../common/processes/roster.js';
import type { CancelSignal } from '../types/cancellation.js';
import { factsWith } from '../types/exchange-facts.js';
import type { DiscardedAttempt } from './attempt-reservation.js';
import type { BegunExchange } from './exchange-recorder.js';

/** One request in progress. A value: each step of the pipeline makes a new one with what it found. */
export interface Exchange extends BegunExchange {
  readonly response: ClientResponse;
  readonly credential: PresentedCredential;
  /** Cancelled once nothing more can reach the client: it has disconnected, or has received its whole response. */
  readonly signal: CancelSignal;
  /** Registers a response that is an event stream, so that it can be stopped. Null: the response is none. */
  readonly streams: StreamRegister | null;
}

/** What the steps of the pipeline add to an exchange. */
type ExchangeChanges = Partial<Pick<Exchange, 'facts' | 'bodies' | 'trail' | 'decisions'>>;

/** The exchange with the results of a step. Written out member by member, as `factsWith` is. */
export const exchangeWith = (
  exchange: Exchange,
  {
    facts = exchange.facts,
    bodies = exchange.bodies,
    trail = exchange.trail,
    decisions = exchange.decisions,
  }: ExchangeChanges,
): Exchange => ({
  request: exchange.request,
  recorder: exchange.recorder,
  facts,
  bodies,
  trail,
  decisions,
  response: exchange.response,
  streams: exchange.streams,
  signal: exchange.signal,
  credential: exchange.credential,
});

/** The exchange with further facts. */
export const withFacts = (exchange: Exchange, facts: Parameters<typeof factsWith>[1]): Exchange =>
  exchangeWith(exchange, { facts: factsWith(exchange.facts, facts) });

/** How the failure of a try is recorded. The provider of a client that disconnected was working, so its input counts. */
export function failedAttempt({ signal }: Exchange, { code }: AppError): DiscardedAttempt {
  const hasLeft = signal.isCancelled;
  return { errorCode: hasLeft ? null : code, isCutOff: hasLeft };
}

/** Registers running streams and can cancel their attempts. */
export interface StreamRegister {
  /** Returns the registration, for `delete` when the stream ends. */
  add(exchange: Exchange, attempt: Cancellable): RunningStream;
  delete(stream: RunningStream): void;
}

/** A running stream. */
export interface RunningStream extends RosterMember {
  readonly exchange: Exchange;
  readonly attempt: Cancellable;
  isBeingChecked: boolean;
}

export interface Cancellable {
  cancel(reason: AppError): void;
}
