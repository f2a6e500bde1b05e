import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, EndpointId } from '../../providers/endpoint.js';
import type { GatewayHeaders } from '../types/gateway-headers.js';
import type { CompiledConfig } from '../types/plan.js';

/** Endpoints that store objects in one account. Their ids are unknown to another account. */
const OF_ONE_ACCOUNT: ReadonlySet<EndpointId> = new Set(['batches', 'files', 'fine-tuning', 'vector-stores']);

/** Refuses a config with several targets for an endpoint whose objects only one of them would have. */
export function checkTargets({ targetCount }: CompiledConfig, endpoint: Endpoint | null): void {
  if (targetCount <= 1 || !endpoint || !OF_ONE_ACCOUNT.has(endpoint.id)) return;
  throw new AppError('config_invalid', {
    detail: `${endpoint.title} belong to one account, so the config must have exactly one target, not ${targetCount}`,
  });
}

const LONGEST_SLUG = 65;

/**
 * Refuses a request that names a virtual key which its config does not use: the key, its limits and its budget would be ignored silently. A
 * config with an open target uses the request's key.
 */
export function checkNamedKey({ namedKeys }: CompiledConfig, { virtualKey, provider }: GatewayHeaders): void {
  if (namedKeys === null) return;
  const named = virtualKey ?? (provider?.startsWith('@') ? provider : null);
  if (named === null || namedKeys.has(named.replace(/^@/, ''))) return;
  throw new AppError('invalid_request', {
    detail: `The request names the virtual key "${named.slice(0, LONGEST_SLUG)}", but no target of its config uses it. Remove the header, or name the virtual key in the config.`,
  });
}
