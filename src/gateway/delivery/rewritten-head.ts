import type { ClientResponse } from '../../common/http/messages.js';
import type { Entry } from '../recording/entry.js';
import { lower } from '../../common/http/raw-headers.js';
import type { ResponseHead } from '../upstream/response-headers.js';
import { addAnswerHeaders, NO_SNIFFING } from './answer-headers.js';

/** Headers that describe the provider's bytes, which the client does not receive. */
const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'etag',
]);

/** The head of the body that replaces the provider's. */
export interface RewrittenHead {
  readonly status: number;
  readonly contentType: string;
  /** Null when the length is not known yet. */
  readonly bytes: number | null;
  readonly errorSource: 'gateway' | 'provider' | null;
}

/** Writes the head of a response whose body is not the provider's own. */
export function writeRewrittenHead(
  response: ClientResponse,
  entry: Entry,
  { headers: theirs, hasDate }: ResponseHead,
  { status, contentType, bytes, errorSource }: RewrittenHead,
): void {
  const headers: string[] = ['content-type', contentType];
  if (bytes !== null) headers.push('content-length', String(bytes));
  for (let at = 0; at < theirs.length; at += 2)
    if (!OF_THE_BODY.has(lower(theirs[at] as string)))
      headers.push(theirs[at] as string, theirs[at + 1] as string);
  // Only a guardrail withholds a response whose head is known, and it does so again.
  if (errorSource === 'gateway') headers.push(...NO_SNIFFING, 'x-should-retry', 'false');
  addAnswerHeaders(headers, entry, errorSource);
  response.sendDate = !hasDate;
  response.writeHead(status, headers);
}
