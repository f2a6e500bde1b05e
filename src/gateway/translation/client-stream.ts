import type { HubError } from '../../providers/translation.js';
import type { Reading } from '../recording/reading.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import type { ActiveTranslation } from './outgoing.js';

/** A stream in progress: takes the provider's bytes and returns the client's text. */
export interface ClientStream {
  /** Why the response is incomplete; null while it may still complete, and when it has. */
  readonly error: HubError | null;
  readonly hasEnded: boolean;
  /** We stopped it, not the provider. */
  readonly isDenied?: boolean;
  feed(bytes: Buffer): string;
  end(): string;
  fail(error: HubError): string;
  /** Resolves when all results about it are in the exchange record. Absent: they already are. */
  settle?(): Promise<void>;
}

/** How a response is delivered. */
export interface StreamPlan extends StartedAttempt {
  /** Null: the provider uses the client's dialect. */
  readonly translated: ActiveTranslation | null;
  /** Opens the stream that replaces the plain translation. */
  readonly open?: (reading: Reading) => ClientStream;
  /** Default: the provider's own. */
  readonly status?: number;
  /** Of a stream. Default: that of an event stream. */
  readonly contentType?: string;
}
