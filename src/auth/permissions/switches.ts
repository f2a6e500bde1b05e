import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import type { Scope } from '../scopes.js';

/** The roles affected by a switch: owners and admins of the organization, admins and managers of a workspace, or its members. */
export type SwitchedRole = 'organization_admin' | 'manager' | 'member';

interface PolicyFlag {
  readonly role: SwitchedRole;
  readonly scopes: readonly Scope[];
  /** Its default position. */
  readonly usual: boolean;
  readonly meaning: string;
}

const READ_LOGS: readonly Scope[] = ['logs.view', 'logs.export'];
const LIST_LOGS: readonly Scope[] = ['logs.list'];
const VIEW_ANALYTICS: readonly Scope[] = ['analytics.view'];
const VIEW_PROMPTS: readonly Scope[] = ['prompts.list', 'prompts.read'];
const WRITE_PROMPTS: readonly Scope[] = [
  'prompts.create',
  'prompts.update',
  'prompts.delete',
  'prompts.publish',
];
const VIEW_GUARDRAILS: readonly Scope[] = ['guardrails.list', 'guardrails.read'];
const WRITE_GUARDRAILS: readonly Scope[] = ['guardrails.create', 'guardrails.update', 'guardrails.delete'];
const VIEW_PROVIDERS: readonly Scope[] = [
  'providers.list',
  'providers.read',
  'virtual_keys.list',
  'virtual_keys.read',
];
const MANAGE_PROVIDERS: readonly Scope[] = [
  'providers.create',
  'providers.update',
  'providers.delete',
  'virtual_keys.create',
  'virtual_keys.update',
  'virtual_keys.delete',
  'virtual_keys.copy',
  'virtual_keys.duplicate',
];
const VIEW_KEYS: readonly Scope[] = [
  'workspace_service_api_keys.list',
  'workspace_service_api_keys.read',
  'workspace_user_api_keys.list',
  'workspace_user_api_keys.read',
];
const MANAGE_KEYS: readonly Scope[] = [
  'workspace_service_api_keys.create',
  'workspace_service_api_keys.update',
  'workspace_service_api_keys.delete',
  'workspace_service_api_keys.rotate',
  'workspace_user_api_keys.create',
  'workspace_user_api_keys.update',
  'workspace_user_api_keys.delete',
  'workspace_user_api_keys.rotate',
];
const WRITE_INTEGRATIONS: readonly Scope[] = [
  'workspace_integrations.create',
  'workspace_integrations.update',
  'workspace_integrations.delete',
];

const on = (role: SwitchedRole, scopes: readonly Scope[], meaning: string): PolicyFlag => ({
  role,
  scopes,
  usual: true,
  meaning,
});
const off = (role: SwitchedRole, scopes: readonly Scope[], meaning: string): PolicyFlag => ({
  ...on(role, scopes, meaning),
  usual: false,
});

/** Rights that an organization can give to roles or take from them. Scopes that no switch names do not depend on any. */
export const SWITCHES = {
  organisationAdminsViewLogs: on(
    'organization_admin',
    READ_LOGS,
    'read single requests with their bodies, and export them',
  ),
  organisationAdminsViewLogMetadata: on('organization_admin', LIST_LOGS, 'list requests'),
  managersViewLogs: on('manager', READ_LOGS, 'read single requests with their bodies, and export them'),
  managersViewLogMetadata: on('manager', LIST_LOGS, 'list requests'),
  membersViewLogs: on('member', READ_LOGS, 'read single requests with their bodies, and export them'),
  membersViewLogMetadata: on('member', LIST_LOGS, 'list requests'),
  managersViewAnalytics: on('manager', VIEW_ANALYTICS, 'see analytics'),
  membersViewAnalytics: on('member', VIEW_ANALYTICS, 'see analytics'),
  managersViewAllData: on('manager', [], "see others' traffic, not only that of their own keys"),
  membersViewAllData: on('member', [], "see others' traffic, not only that of their own keys"),
  managersViewPrompts: on('manager', VIEW_PROMPTS, 'see prompts'),
  managersWritePrompts: on('manager', WRITE_PROMPTS, 'change prompts'),
  membersViewPrompts: on('member', VIEW_PROMPTS, 'see prompts'),
  membersWritePrompts: off('member', WRITE_PROMPTS, 'change prompts'),
  managersViewGuardrails: on('manager', VIEW_GUARDRAILS, 'see guardrails'),
  managersWriteGuardrails: on('manager', WRITE_GUARDRAILS, 'change guardrails'),
  membersViewGuardrails: on('member', VIEW_GUARDRAILS, 'see guardrails'),
  managersViewProviders: on('manager', VIEW_PROVIDERS, 'see providers and virtual keys'),
  managersManageProviders: on('manager', MANAGE_PROVIDERS, 'change providers and virtual keys'),
  membersViewProviders: on('member', VIEW_PROVIDERS, 'see providers and virtual keys'),
  membersManageProviders: off('member', MANAGE_PROVIDERS, 'change providers and virtual keys'),
  managersViewApiKeys: on('manager', VIEW_KEYS, 'see API keys'),
  managersManageApiKeys: on('manager', MANAGE_KEYS, 'create and change API keys'),
  membersViewApiKeys: on('member', VIEW_KEYS.slice(2), 'see their own API keys'),
  membersManageApiKeys: off('member', MANAGE_KEYS.slice(4), 'create and change API keys of their own'),
  managersWriteWsIntegrations: on('manager', WRITE_INTEGRATIONS, 'change integrations of the workspace'),
} as const satisfies Record<string, PolicyFlag>;

export type SwitchName = keyof typeof SWITCHES;

export const SWITCH_NAMES = Object.keys(SWITCHES) as readonly SwitchName[];

/** Whether a role sees the traffic of others. Services and administrators always do. */
export function seesAllData(role: SwitchedRole, positions: PolicyFlags | null): boolean {
  if (role === 'organization_admin') return true;
  const name: SwitchName = role === 'member' ? 'membersViewAllData' : 'managersViewAllData';
  return positions?.[name] ?? SWITCHES[name].usual;
}

/** The scopes of a role after the organization's switches. Returns the same set if none applies. */
export function switched(
  scopes: ReadonlySet<Scope>,
  role: SwitchedRole,
  positions: PolicyFlags | null,
): ReadonlySet<Scope> {
  if (positions === null) return scopes;
  const left = new Set(scopes);
  for (const name of SWITCH_NAMES) {
    const position = positions[name];
    const { role: whose, scopes: switchedScopes } = SWITCHES[name];
    if (whose !== role || position === undefined) continue;
    for (const scope of switchedScopes)
      if (position) left.add(scope);
      else left.delete(scope);
  }
  return left;
}
