import { lower } from '../../common/http/raw-headers.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import { HiddenUsage } from '../translation/hidden-usage.js';
import type { ResponseHead } from '../upstream/response-headers.js';

/**
 * For a stream whose usage the gateway requested in place of the client, whatever its content type: clients know from their request that
 * it is one. Null for every other response, and for a provider that compresses against the request.
 */
export function hiddenUsageOf(
  { hidesUsage }: AttemptTrail,
  head: ResponseHead,
  status: number,
): HiddenUsage | null {
  const isReadable = head.contentEncoding === null || head.contentEncoding === 'identity';
  return hidesUsage && status < 400 && isReadable ? new HiddenUsage() : null;
}

/** By its content type, or because it was requested as one; a plain response is JSON. */
export const isEventStream = (head: ResponseHead, hidden: HiddenUsage | null): boolean =>
  head.isEventStream || (hidden !== null && !head.isJson);

/** The head of a stream that becomes shorter. */
export function withoutLength(head: ResponseHead): ResponseHead {
  if (head.contentLength === null) return head;
  const isLength = (index: number): boolean =>
    lower(head.headers[index - (index % 2)] as string) === 'content-length';
  return { ...head, contentLength: null, headers: head.headers.filter((_, index) => !isLength(index)) };
}
