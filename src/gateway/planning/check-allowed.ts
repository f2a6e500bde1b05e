import type { Principal } from '../../auth/principal.js';
import type { Content } from '../types/content.js';
import type { Target } from '../types/target.js';
import { checkModel } from './allowed-models.js';
import { checkPolicy } from './check-policy.js';

/** What the organization and the credential allow, before anything is sent. Throws as `checkPolicy` and `checkModel` do. */
export function checkAllowed(
  { policy }: Principal,
  target: Target,
  { model }: Content,
  method?: string,
): void {
  if (policy) checkPolicy(policy, target.provider.id, model);
  if (target.virtualKey?.models) checkModel(target.virtualKey.models, model, method);
}

/**
 * The same of a form of which only the head is known, so that nobody's upload is read to be refused for what could be seen
 * before. A model that has not come yet is judged when it has.
 */
export function checkShown({ policy }: Principal, target: Target, { model }: Content): void {
  if (policy) checkPolicy(policy, target.provider.id, model);
  if (model !== null && target.virtualKey?.models) checkModel(target.virtualKey.models, model);
}
