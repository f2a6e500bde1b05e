import { AppError } from '../../common/errors/app-error.js';
import { isListed } from '../types/failure-statuses.js';
import type { RequestContent } from '../types/content.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead } from '../upstream/forwarded-headers.js';
import type { RetryPolicy } from './retry.js';

/** Longer responses are delivered as they arrive. */
const HELD_BYTES_MAX = 256 * 1024;

const BROKEN = new AppError('upstream_error');

/**
 * How a request's retries cover a connection that breaks after the head of its response: a plain response is held until it is whole, so
 * that the client has received nothing. Null if the config does not retry such failures, and for streams.
 */
export function bodyFailureOf(
  { retry }: PlannedTarget,
  { isStreamed }: RequestContent,
): RetryPolicy['bodyFailure'] {
  return retry !== null && !isStreamed && isListed(BROKEN, retry.onStatuses) ? failureOf : null;
}

function failureOf(attempt: Attempt): Promise<AppError | null> {
  const { isEventStream, contentLength } = readResponseHead(attempt.rawHeaders);
  const isUpgrade = attempt.status < 200;
  const isPassed =
    isUpgrade || attempt.status >= 400 || isEventStream || (contentLength ?? 0) > HELD_BYTES_MAX;
  return isPassed ? Promise.resolve(null) : held(attempt);
}

function held(attempt: Attempt): Promise<AppError | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const pass = (): void => {
      attempt.detach(chunks);
      resolve(null);
    };
    attempt.attach({
      onChunk: (chunk) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > HELD_BYTES_MAX) pass();
        return bytes <= HELD_BYTES_MAX;
      },
      onEnd: pass,
      onFail: resolve,
    });
  });
}
