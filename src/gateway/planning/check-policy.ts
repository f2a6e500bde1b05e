import type { OrganizationPolicy } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';

/** Throws `provider_not_allowed` or `model_not_allowed` for requests that the policy of the caller's organization forbids. */
export function checkPolicy(
  { providers, models }: OrganizationPolicy,
  provider: string,
  model: string | null,
): void {
  if (providers && !providers.has(provider)) throw new AppError('provider_not_allowed', { provider });
  if (models && model !== null && !models.has(model)) throw new AppError('model_not_allowed', { model });
}
