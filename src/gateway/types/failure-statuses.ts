import type { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';

/**
 * Statuses by which a config can name a failure without a response: the gateway's own, and those of the compatible gateway for the same
 * failure, so that its configs keep their meaning.
 */
const ALIASES: Partial<Record<ErrorCode, readonly number[]>> = {
  upstream_error: [502, 500, 503],
  upstream_protocol_error: [502, 500],
  upstream_timeout: [504, 408],
  request_timeout: [408, 504],
};

export function isListed(error: AppError, statuses: ReadonlySet<number>): boolean {
  return (ALIASES[error.code] ?? [error.spec.status]).some((status) => statuses.has(status));
}
