import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { Target } from '../types/target.js';

/** Failures whose message has a place for the provider, `{where}`. */
const OF_A_PROVIDER: ReadonlySet<ErrorCode> = new Set([
  'upstream_error',
  'upstream_protocol_error',
  'upstream_timeout',
  'request_timeout',
]);

/** The error with the provider and its host in the message, where it is a failure of the provider; any other error as it is. */
export function namingProvider(error: AppError, target: Target): AppError {
  if (!OF_A_PROVIDER.has(error.code)) return error;
  return new AppError(error.code, { ...error.details, where: whereIs(target) }, { cause: error.cause });
}

/** A host that a virtual key pins is not shown: whoever uses the key may lack the permission to see it. */
function whereIs({ provider, origin, virtualKey, isCustomHost }: Target): string {
  const name = ` "${provider.id}"`;
  if (provider.inProcess) return name;
  return virtualKey && isCustomHost
    ? `${name} of the virtual key "${virtualKey.slug}"`
    : `${name} at ${new URL(origin).host}`;
}
