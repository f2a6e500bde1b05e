import type { OrganizationPolicy } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';

/** Refuses with `provider_not_allowed` or `model_not_allowed` what the caller's organization does not want asked. */
export function checkPolicy(
  { providers, models }: OrganizationPolicy,
  provider: string,
  model: string | null,
): void {
  if (providers && !providers.has(provider)) throw new AppError('provider_not_allowed', { provider });
  if (models && model !== null && !models.has(model)) throw new AppError('model_not_allowed', { model });
}
