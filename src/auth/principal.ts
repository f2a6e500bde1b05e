import type { ClientDisconnectRule } from '../common/contracts/upstream-rules.js';
import type { HookLists } from '../routing-config/guardrails/read-hooks.js';
import type { CacheRules } from '../routing-config/document.js';
import type { CallerLimits } from '../common/limits/limit.js';
import type { Scope } from './scopes.js';

/**
 * How the caller was identified. An admin key administers and never calls models. `person` and `workspace_token` come with a signed token
 * instead of a key: a user has the rights of their roles, a workspace token acts like a service key.
 */
export type PrincipalKind =
  'admin_key' | 'workspace_service_key' | 'workspace_user_key' | 'person' | 'workspace_token';

/** The organization's policy for every request. */
export interface OrganizationPolicy {
  /** Ids of the allowed providers; null for all. */
  readonly providers: ReadonlySet<string> | null;
  readonly models: ReadonlySet<string> | null;
  readonly keepsBodies: boolean;
  /** Refuse requests that cannot be recorded. */
  readonly needsLog: boolean;
}

/** The caller. Created once per credential and shared by requests: never modify it. */
export interface Principal {
  readonly kind: PrincipalKind;
  /** Null for a caller with a signed token. */
  readonly apiKeyId: string | null;
  readonly name: string;
  readonly organizationId: string;
  /** Null for a caller that can access every workspace of the organization. */
  readonly workspaceId: string | null;
  /** The user to whom the credential belongs; null for services. */
  readonly userId: string | null;
  /** The user on whose authority the credential acts: its owner or its creator. */
  readonly authorityId: string | null;
  /** Never more than that user's current rights. */
  readonly scopes: ReadonlySet<Scope>;
  /** It can access only the API keys of the user on whose authority it acts. */
  readonly hasOnlyOwnKeys?: true;
  /** The user whose own keys' traffic is visible in logs and analytics; absent for a caller without restrictions. */
  readonly seesOnlyOf?: string;
  /** Absent without limits. */
  readonly limits?: CallerLimits;
  /** Null without a policy. */
  readonly policy: OrganizationPolicy | null;
  /** Absent if the key has no config of its own and accepts any. */
  readonly routing?: KeyRouting | undefined;
  /** Guardrails of the organization and the workspace, before all others. Absent without any. */
  readonly guardrails?: HookLists;
  /** Metadata of the workspace or the key for every request, overriding its own. Absent without any. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The workspace's cache rules, for configs and requests without their own. Absent without any. */
  readonly cache?: CacheRules;
  /** The workspace's rule for attempts whose client disconnects. Absent without one. */
  readonly onClientDisconnect?: ClientDisconnectRule;
}

/** The config for requests of a key that name none, and whether they may name one. */
export interface KeyRouting {
  /** Id or slug. */
  readonly configId: string | null;
  readonly allowsOverride: boolean;
}
