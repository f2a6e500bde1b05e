import type { Principal } from '../auth/principal.js';
import type { HookLists } from '../common/contracts/guardrails/read-hooks.js';
import type { OrganizationSettings } from '../common/contracts/organization-settings.js';
import type { WorkspaceDefaults } from '../common/contracts/workspace-defaults.js';

export type Imposed = Pick<Principal, 'guardrails' | 'metadata'>;

/** What an organization and a workspace give every request: made once per credential that is loaded. */
export function imposedBy(
  settings: Partial<OrganizationSettings>,
  defaults: WorkspaceDefaults | null,
): Imposed {
  const input_guardrails = [...(settings.input_guardrails ?? []), ...(defaults?.input_guardrails ?? [])];
  const output_guardrails = [...(settings.output_guardrails ?? []), ...(defaults?.output_guardrails ?? [])];
  const guardrails: HookLists = { input_guardrails, output_guardrails };
  const metadata = defaults?.metadata ?? {};
  return {
    ...(input_guardrails.length + output_guardrails.length > 0 ? { guardrails } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}
