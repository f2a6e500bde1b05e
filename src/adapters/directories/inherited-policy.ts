import type { OrganizationPolicy, Principal } from '../../auth/principal.js';
import type { HookLists } from '../../routing-config/guardrails/read-hooks.js';
import { type OrganizationSettings, USUAL_SETTINGS } from '../../common/contracts/organization-settings.js';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';

export type InheritedPolicy = Pick<Principal, 'guardrails' | 'metadata' | 'cache' | 'onClientDisconnect'>;

/**
 * The policy that requests inherit from the organization, the workspace and the key, built once per loaded credential. Workspace metadata
 * override the key's, `ownMetadata`.
 */
export function inheritedPolicyOf(
  settings: Partial<OrganizationSettings>,
  defaults: WorkspaceDefaults | null,
  ownMetadata: Readonly<Record<string, string>> | null = null,
): InheritedPolicy {
  const guardrails = guardrailsOf(settings, defaults ?? {});
  const metadata = { ...ownMetadata, ...defaults?.metadata };
  const { cache, on_client_disconnect: onClientDisconnect } = defaults ?? {};
  return {
    ...(guardrails ? { guardrails } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    ...(cache ? { cache } : {}),
    ...(onClientDisconnect ? { onClientDisconnect } : {}),
  };
}

/** The organization's guardrails precede the workspace's. */
function guardrailsOf(
  settings: Partial<OrganizationSettings>,
  defaults: WorkspaceDefaults,
): HookLists | null {
  const joined = (list: 'input_guardrails' | 'output_guardrails'): readonly string[] => [
    ...(settings[list] ?? []),
    ...(defaults[list] ?? []),
  ];
  const [input_guardrails, output_guardrails] = [joined('input_guardrails'), joined('output_guardrails')];
  return input_guardrails.length + output_guardrails.length > 0
    ? { input_guardrails, output_guardrails }
    : null;
}

/** Null when the organization sets no policy that requests must be checked against. */
export function organizationPolicyOf(settings: Partial<OrganizationSettings>): OrganizationPolicy | null {
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
