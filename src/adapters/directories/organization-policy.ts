import type { OrganizationPolicy } from '../../auth/principal.js';
import { type OrganizationSettings, USUAL_SETTINGS } from '../../common/contracts/organization-settings.js';

/** Null when the organization sets no policy that requests must be checked against. */
export function policyOf(settings: Partial<OrganizationSettings>): OrganizationPolicy | null {
  const decided = { ...USUAL_SETTINGS, ...settings };
  const { allowed_providers, allowed_models, log_bodies, strict_logging } = decided;
  if (!allowed_providers && !allowed_models && log_bodies && !strict_logging) return null;
  return {
    providers: allowed_providers && new Set(allowed_providers),
    models: allowed_models && new Set(allowed_models),
    keepsBodies: log_bodies,
    needsLog: strict_logging,
  };
}
