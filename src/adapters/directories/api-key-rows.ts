import type { Principal, PrincipalKind } from '../../auth/principal.js';
import { keysWithin, narrowedVisibility, type Roles, scopesOfRoles } from '../../auth/permissions/roles.js';
import { type Scope, isScope } from '../../auth/scopes.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import type { OrganizationSettings } from '../../common/contracts/organization-settings.js';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import { inheritedPolicyOf, organizationPolicyOf } from './inherited-policy.js';
import { type CallerLimits, limitsOfRules, policyOf } from '../../common/limits/limit.js';
import type { BudgetRule, PolicyRule, RateRule } from '../../common/limits/rules.js';

/** Columns under the names of the query; times are milliseconds since the epoch. */
export interface ApiKeyRow extends CallerRules {
  readonly id: string;
  readonly kind: ApiKeyType;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly organization_id: string;
  readonly workspace_id: string | null;
  readonly user_id: string | null;
  readonly authority_id: string | null;
  /** Roles of the key's authority; null when that user was deleted or deactivated. */
  readonly organization_role: OrganizationRole | null;
  readonly workspace_role: WorkspaceRole | null;
  readonly settings: Partial<OrganizationSettings>;
  readonly expires_at: Date | null;
  /** When the presented secret expires after a rotation; null for the current secret. */
  readonly overlap_ends_at: Date | null;
  readonly workspace_defaults: WorkspaceDefaults | null;
  readonly default_metadata: Readonly<Record<string, string>> | null;
  /**
   * The key's own default config, else its workspace's (for a user's key, first the workspace's default for such keys), else its
   * organization's.
   */
  readonly config_id: string | null;
  readonly allow_config_override: boolean;
}

const apiKey = (overlapEndsAt: string, condition: string): string => `
  SELECT key.id, key.kind, key.name, key.scopes, key.organization_id, key.workspace_id, key.user_id, key.expires_at,
    ${overlapEndsAt} AS overlap_ends_at,
    authority.id AS authority_id, authority.role AS organization_role, member.role AS workspace_role,
    organization.settings, key.allow_config_override, key.default_metadata,
    workspace.defaults AS workspace_defaults,
    coalesce(key.default_config_id::text,
      CASE WHEN key.kind = 'workspace-user' THEN workspace.defaults ->> 'user_api_key_config' END,
      workspace.default_config_id::text, organization.default_config_id::text) AS config_id,
    key.rate_limits, key.usage_limits, workspace.rate_limits AS workspace_rate_limits,
    workspace.usage_limits AS workspace_usage_limits,
    (SELECT jsonb_agg(to_jsonb(policy)) FROM limit_policies policy
      WHERE policy.workspace_id = key.workspace_id AND policy.archived_at IS NULL) AS policies
  FROM api_keys key
  JOIN organizations organization ON organization.id = key.organization_id
  LEFT JOIN workspaces workspace ON workspace.id = key.workspace_id
  LEFT JOIN users authority ON authority.organization_id = key.organization_id
    AND authority.id = coalesce(key.user_id, key.created_by_user_id) AND authority.status = 'active'
  LEFT JOIN workspace_members member ON member.workspace_id = key.workspace_id AND member.user_id = authority.id
  WHERE key.deleted_at IS NULL AND ${condition}`;

/** The key whose secret hashes to $1, now or before a rotation whose overlap has not ended. */
export const BY_HASH = apiKey(
  'CASE WHEN key.key_hash = $1 THEN NULL ELSE key.previous_key_expires_at END',
  '(key.key_hash = $1 OR (key.previous_key_hash = $1 AND key.previous_key_expires_at > now()))',
);

/** The unexpired key with the id $1, regardless of its secret. */
export const BY_ID = apiKey(
  'NULL::timestamptz',
  'key.id = $1 AND (key.expires_at IS NULL OR key.expires_at > now())',
);

/** How and when the key whose secret hashes to $1 ended. */
export const END_BY_HASH = `
  SELECT CASE WHEN revoked_key_hash = $1 THEN 'revoked' WHEN key_hash = $1 THEN 'expired' ELSE 'replaced' END AS reason,
    CASE WHEN revoked_key_hash = $1 THEN deleted_at WHEN key_hash = $1 THEN expires_at ELSE previous_key_expires_at END AS at,
    id AS "apiKeyId", organization_id AS "organizationId"
  FROM api_keys
  WHERE revoked_key_hash = $1
    OR (key_hash = $1 AND expires_at <= now())
    OR (previous_key_hash = $1 AND previous_key_expires_at <= now())
  LIMIT 1`;

const KINDS: Readonly<Record<ApiKeyType, PrincipalKind>> = {
  'organisation-service': 'admin_key',
  'workspace-service': 'workspace_service_key',
  'workspace-user': 'workspace_user_key',
};

export function principalOfKey(row: ApiKeyRow): Principal {
  const limits = callerLimits(row);
  const roles = rolesOf(row);
  return {
    kind: KINDS[row.kind],
    apiKeyId: row.id,
    name: row.name,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    userId: row.user_id,
    authorityId: row.authority_id,
    scopes: effectiveScopes(row, roles),
    ...keysWithin(roles),
    policy: organizationPolicyOf(row.settings),
    routing: routingOf(row),
    ...(limits ? { limits } : {}),
    ...inheritedPolicyOf(row.settings, row.workspace_defaults, row.default_metadata),
    ...visibilityOf(row, roles),
  };
}

/** Null when the user on whose authority the key acts was deleted. */
function rolesOf({ organization_role, workspace_role }: ApiKeyRow): Roles | null {
  return organization_role && { organization: organization_role, workspace: workspace_role };
}

/** Service keys see all that they reach; a user's key sees what the user does. */
function visibilityOf({ user_id, settings }: ApiKeyRow, roles: Roles | null): Pick<Principal, 'seesOnlyOf'> {
  if (user_id === null || roles === null) return {};
  return narrowedVisibility(user_id, roles, settings.security_settings ?? null);
}

/** The scopes of the key that the current roles of its authority still allow. */
function effectiveScopes({ scopes, settings }: ApiKeyRow, roles: Roles | null): ReadonlySet<Scope> {
  if (roles === null) return new Set();
  const allowed = scopesOfRoles(roles, settings.security_settings ?? null);
  return new Set(scopes.filter(isScope).filter((scope) => allowed.has(scope)));
}

function routingOf({ config_id, allow_config_override }: ApiKeyRow): Principal['routing'] {
  if (config_id === null && allow_config_override) return undefined;
  return { configId: config_id, allowsOverride: allow_config_override };
}

/** Limits of the caller, as the query of its key returns them. */
interface CallerRules {
  readonly organization_id: string;
  readonly rate_limits: readonly RateRule[] | null;
  readonly usage_limits: readonly BudgetRule[] | null;
  readonly workspace_rate_limits: readonly RateRule[] | null;
  readonly workspace_usage_limits: readonly BudgetRule[] | null;
  readonly policies: readonly PolicyRule[] | null;
}

/** Null when the caller has no limits. */
function callerLimits(row: CallerRules): CallerLimits | null {
  const organizationId = row.organization_id;
  const limits = [
    ...limitsOfRules({ organizationId, subject: 'this API key' }, row),
    ...limitsOfRules(
      { organizationId, subject: 'this workspace' },
      { rate_limits: row.workspace_rate_limits, usage_limits: row.workspace_usage_limits },
    ),
  ];
  const policies = (row.policies ?? []).flatMap((rule) => policyOf(organizationId, rule) ?? []);
  return limits.length + policies.length > 0 ? { limits, policies } : null;
}
