import { hash } from 'node:crypto';
import { ApiKeyDirectory, type KnownKey } from '../auth/ports.js';
import type { Principal, PrincipalKind } from '../auth/principal.js';
import { scopesOfRoles } from '../auth/roles.js';
import { type Scope, isScope } from '../auth/scopes.js';
import type { ChangedResource, ChangeFeed } from '../common/changes/change.js';
import { hashApiKey } from '../common/crypto/key-hash.js';
import type { Secret } from '../common/crypto/secret.js';
import type { Queryable } from '../common/database/queryable.js';
import type { ApiKeyType } from '../common/contracts/api-key-type.js';
import type { OrganizationSettings } from '../common/contracts/organization-settings.js';
import type { WorkspaceDefaults } from '../common/contracts/workspace-defaults.js';
import type { OrganizationRole, WorkspaceRole } from '../common/contracts/roles.js';
import { imposedBy } from './imposed.js';
import { callerLimits, type CallerRules } from './limits-of-row.js';
import { policyOf } from './organization-policy.js';
import { type Ages, RefreshingCache } from './refreshing-cache.js';

/** Columns under the names that the query gives them; times are milliseconds since the epoch. */
interface Row extends CallerRules {
  readonly id: string;
  readonly kind: ApiKeyType;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly organization_id: string;
  readonly workspace_id: string | null;
  readonly user_id: string | null;
  readonly authority_id: string | null;
  /** The authority's roles; null when that person is gone or deactivated. */
  readonly organization_role: OrganizationRole | null;
  readonly workspace_role: WorkspaceRole | null;
  readonly settings: Partial<OrganizationSettings>;
  readonly expires_at: Date | null;
  /** When the presented secret stops being accepted after a rotation; null for the current secret. */
  readonly overlap_ends_at: Date | null;
  readonly workspace_defaults: WorkspaceDefaults | null;
  /** The key's own default, or else its workspace's (for keys of people first), or else its organization's. */
  readonly config_id: string | null;
  readonly allow_config_override: boolean;
}

const BY_HASH = `
  SELECT key.id, key.kind, key.name, key.scopes, key.organization_id, key.workspace_id, key.user_id, key.expires_at,
    CASE WHEN key.key_hash = $1 THEN NULL ELSE key.previous_key_expires_at END AS overlap_ends_at,
    authority.id AS authority_id, authority.role AS organization_role, member.role AS workspace_role,
    organization.settings, key.allow_config_override,
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
  WHERE key.deleted_at IS NULL
    AND (key.key_hash = $1 OR (key.previous_key_hash = $1 AND key.previous_key_expires_at > now()))`;

const BINDS_MANY_KEYS: ReadonlySet<ChangedResource> = new Set(['organization', 'user', 'workspace']);

const KINDS: Readonly<Record<ApiKeyType, PrincipalKind>> = {
  'organisation-service': 'admin_key',
  'workspace-service': 'workspace_service_key',
  'workspace-user': 'workspace_user_key',
};

const MINUTE_MS = 60_000;
const ADMIN_AGES: Ages = { softMs: 2_500, hardMs: 5_000, staleMs: 5 * MINUTE_MS };

export interface ApiKeyDirectoryOptions {
  readonly pepper: Secret;
  /** How long workspace keys keep working while the database is away, in milliseconds. */
  readonly staleKeysMs: number;
}

/**
 * API keys from PostgreSQL, remembered by the SHA-256 of the secret presented, so that memory holds no secret.
 * A key that is deleted or rotated is forgotten as soon as the change bus tells it.
 */
export class PostgresApiKeyDirectory extends ApiKeyDirectory {
  private readonly cache: RefreshingCache<string, KnownKey>;

  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    private readonly options: ApiKeyDirectoryOptions,
  ) {
    super();
    const workspaceAges: Ages = { softMs: 10_000, hardMs: 20_000, staleMs: options.staleKeysMs };
    this.cache = new RefreshingCache({
      load: (secret) => this.load(secret),
      idOf: ({ principal }) => principal.apiKeyId ?? '',
      agesOf: ({ principal }) => (principal.kind === 'admin_key' ? ADMIN_AGES : workspaceAges),
    });
    changes.subscribe((change) => {
      // The roles of a person bound many keys, and an organization or a workspace that changes all of its own.
      if (change === null || BINDS_MANY_KEYS.has(change.resource)) this.cache.clear();
      else if (change.resource === 'api_key') this.cache.forget(change.id);
    });
  }

  override find(secret: string): KnownKey | null | Promise<KnownKey | null> {
    const known = this.cache.find(hash('sha256', secret, 'hex'), secret);
    return known instanceof Promise ? known.then(unlessExpired) : unlessExpired(known);
  }

  private async load(secret: string): Promise<KnownKey | null> {
    const rows: Row[] = await this.database.query(BY_HASH, [hashApiKey(this.options.pepper, secret)]);
    const [row] = rows;
    return row
      ? { principal: principalOf(row), expiresAt: earlier(row.expires_at, row.overlap_ends_at) }
      : null;
  }
}

function principalOf(row: Row): Principal {
  const limits = callerLimits(row);
  return {
    kind: KINDS[row.kind],
    apiKeyId: row.id,
    name: row.name,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    userId: row.user_id,
    authorityId: row.authority_id,
    scopes: effectiveScopes(row),
    policy: policyOf(row.settings),
    routing: routingOf(row),
    ...(limits ? { limits } : {}),
    ...imposedBy(row.settings, row.workspace_defaults),
  };
}

/** What the key was given, as far as the person on whose authority it acts may do that now. */
function effectiveScopes({ scopes, organization_role, workspace_role, settings }: Row): ReadonlySet<Scope> {
  if (organization_role === null) return new Set();
  const roles = { organization: organization_role, workspace: workspace_role };
  const allowed = scopesOfRoles(roles, settings.security_settings ?? null);
  return new Set(scopes.filter(isScope).filter((scope) => allowed.has(scope)));
}

function routingOf({ config_id, allow_config_override }: Row): Principal['routing'] {
  if (config_id === null && allow_config_override) return undefined;
  return { configId: config_id, allowsOverride: allow_config_override };
}

function earlier(...times: readonly (Date | null)[]): number | null {
  const given = times.filter((time) => time !== null).map((time) => time.getTime());
  return given.length === 0 ? null : Math.min(...given);
}

/** A remembered key ends on the millisecond, not when the store is asked again. */
function unlessExpired(known: KnownKey | null): KnownKey | null {
  return known === null || known.expiresAt === null || known.expiresAt > Date.now() ? known : null;
}
