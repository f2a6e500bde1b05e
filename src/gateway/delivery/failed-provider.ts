import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { Target } from '../types/target.js';

/** Failures whose message names the provider, in `{where}`. */
const OF_A_PROVIDER: ReadonlySet<ErrorCode> = new Set([
  'upstream_error',
  'upstream_protocol_error',
  'upstream_timeout',
  'request_timeout',
]);

/** Adds the provider and its host to the message of a provider's failure; any other error is returned as it is. */
export function namingProvider(error: AppError, target: Target): AppError {
  if (!OF_A_PROVIDER.has(error.code)) return error;
  return new AppError(error.code, { ...error.details, where: whereIs(target) }, { cause: error.cause });
}

/** A host that a virtual key pins is not shown: the caller may lack the permission to see it. */
function whereIs({ provider, origin, virtualKey, isCustomHost }: Target): string {
  const name = ` "${provider.id}"`;
  if (provider.inProcess) return name;
  return virtualKey && isCustomHost
    ? `${name} of the virtual key "${virtualKey.slug}"`
    : `${name} at ${new URL(origin).host}`;
}
