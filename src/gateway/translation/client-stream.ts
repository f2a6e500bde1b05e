import type { HubError } from '../../providers/translation.js';
import type { Reading } from '../recording/metering.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import type { ActiveTranslation } from './outgoing.js';

/** A stream on its way: the provider's bytes in, the client's text out. */
export interface ClientStream {
  /** Why the answer is not whole; null while it may still be, and when it is. */
  readonly error: HubError | null;
  readonly isOver: boolean;
  /** We stopped it, and not the provider. */
  readonly isDenied?: boolean;
  feed(bytes: Buffer): string;
  end(): string;
  fail(error: HubError): string;
  /** Resolves when all that is told of it is in the journal. Absent: it is. */
  settle?(): Promise<void>;
}

/** What is delivered, and how. */
export interface Way {
  readonly attempt: Attempt;
  readonly target: Target;
  /** Null: the provider speaks the client's dialect. */
  readonly translated: ActiveTranslation | null;
  /** What a stream goes through instead of its translation alone. */
  readonly open?: (reading: Reading) => ClientStream;
  /** Absent: the provider's own. */
  readonly status?: number;
  /** Of a stream. Absent: that of an event stream. */
  readonly contentType?: string;
}
