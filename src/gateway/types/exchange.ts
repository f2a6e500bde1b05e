import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Entry } from '../journal/entry.js';

/** One request on its way: what came in, where the answer goes, and the journal of it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly entry: Entry;
}
