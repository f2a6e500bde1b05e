import type { ClientResponse } from '../../common/http/messages.js';
import { lower } from '../../common/http/raw-headers.js';
import type { Exchange } from '../recording/exchange.js';
import type { ResponseHead } from '../upstream/forwarded-headers.js';
import { addAnswerHeaders, type AnsweredExchange, NO_SNIFFING } from './answer-headers.js';
import { closeExchange, type ClosingExchange, endWith } from './delivery.js';

/** Headers that describe the provider's bytes, which the client does not receive. */
const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'etag',
]);

/** The gateway's own value replaces the provider's. */
const SHOULD_RETRY = 'x-should-retry';

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
  exchange: AnsweredExchange,
  { headers: theirs, hasDate }: ResponseHead,
  { status, contentType, bytes, errorSource }: RewrittenHead,
): void {
  const isWithheld = errorSource === 'gateway';
  const headers: string[] = ['content-type', contentType];
  if (bytes !== null) headers.push('content-length', String(bytes));
  for (let at = 0; at < theirs.length; at += 2) {
    const name = lower(theirs[at] as string);
    if (!OF_THE_BODY.has(name) && !(isWithheld && name === SHOULD_RETRY))
      headers.push(theirs[at] as string, theirs[at + 1] as string);
  }
  // A guardrail withholds the response to the next try as well.
  if (isWithheld) headers.push(...NO_SNIFFING, SHOULD_RETRY, 'false');
  addAnswerHeaders(headers, exchange, errorSource);
  response.sendDate = !hasDate;
  response.writeHead(status, headers);
}

/** A whole body that replaces the provider's, for the client and the record. */
export interface RewrittenResponse extends Omit<ClosingExchange, 'exchange' | 'isComplete'> {
  /** The provider's. */
  readonly head: ResponseHead;
  readonly body: Buffer;
}

/** Records a response whose body is not the provider's own, then sends it. */
export function deliverRewritten(exchange: Exchange, { head, body, ...closing }: RewrittenResponse): void {
  const { response, signal } = exchange;
  closeExchange({ ...closing, exchange }, () => {
    if (signal.isCancelled) return;
    const { status = closing.sent.attempt.status, errorSource = null } = closing;
    const contentType = closing.contentType ?? '';
    writeRewrittenHead(response, exchange, head, { status, contentType, bytes: body.length, errorSource });
    endWith(response, body);
  });
}
