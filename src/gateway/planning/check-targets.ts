import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, EndpointId } from '../../providers/endpoint.js';
import type { CompiledConfig } from '../types/plan.js';

/** What these store lies in one account, and their ids mean nothing to another. */
const OF_ONE_ACCOUNT: ReadonlySet<EndpointId> = new Set(['batches', 'files', 'fine-tuning', 'vector-stores']);

/** Refuses a config of several targets for what only one of them would know again. */
export function checkTargets({ targetCount }: CompiledConfig, endpoint: Endpoint | null): void {
  if (targetCount <= 1 || !endpoint || !OF_ONE_ACCOUNT.has(endpoint.id)) return;
  throw new AppError('config_invalid', {
    detail: `${endpoint.title} lie in one account, so the config must have one target and not ${targetCount}`,
  });
}
