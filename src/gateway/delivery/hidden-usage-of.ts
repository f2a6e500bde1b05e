import { lower } from '../../common/http/raw-headers.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import { HiddenUsage } from '../translation/hidden-usage.js';
import type { ResponseHead } from '../upstream/response-headers.js';

/**
 * For a stream whose usage the gateway requested in place of the client; null for every other response, and for a provider that
 * compresses against the request.
 */
export function hiddenUsageOf({ hidesUsage }: AttemptTrail, head: ResponseHead): HiddenUsage | null {
  const isReadable = head.contentEncoding === null || head.contentEncoding === 'identity';
  return hidesUsage && head.isEventStream && isReadable ? new HiddenUsage('latin1') : null;
}

/** The head of a stream that becomes shorter. */
export function withoutLength(head: ResponseHead): ResponseHead {
  if (head.contentLength === null) return head;
  const isLength = (index: number): boolean =>
    lower(head.headers[index - (index % 2)] as string) === 'content-length';
  return { ...head, contentLength: null, headers: head.headers.filter((_, index) => !isLength(index)) };
}
