import type { ClientRequest, ClientResponse } from '../../common/http/messages.js';
import type { AppError } from '../../common/errors/app-error.js';
import type { RosterMember } from '../../common/processes/roster.js';
import type { Entry } from './entry.js';

/** One request on its way: what came in, where the answer goes, and the journal of it. */
export interface Exchange {
  readonly request: ClientRequest;
  readonly response: ClientResponse;
  readonly entry: Entry;
  /** Where an answer that is an event stream is entered, so that it can be stopped. */
  readonly streams?: StreamRegister;
}

/** Who knows the streams that run, and may cancel what brings them. */
export interface StreamRegister {
  /** Answers what takes it out again, when the stream is over. */
  add(exchange: Exchange, attempt: Cancellable): RunningStream;
  delete(stream: RunningStream): void;
}

/** A stream that runs. */
export interface RunningStream extends RosterMember {
  readonly exchange: Exchange;
  readonly attempt: Cancellable;
  isBeingChecked: boolean;
}

export interface Cancellable {
  cancel(reason: AppError): void;
}
