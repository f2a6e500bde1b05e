import type { ClientDisconnectRule } from '../common/contracts/client-disconnect.js';
import type { HookLists } from '../routing-config/guardrails/read-hooks.js';
import type { CacheRules } from '../routing-config/document.js';
import type { CallerLimits } from '../common/limits/limit.js';
import type { Scope } from './permissions/scopes.js';

/**
 * How the caller was identified. An admin key administers; it never calls models. A user and a workspace token come
 * with a signed token instead of a key: a user has the rights of their roles, a workspace token acts like a service key.
 */
export type PrincipalKind =
  'admin_key' | 'workspace_service_key' | 'workspace_user_key' | 'person' | 'workspace_token';

/** What the caller's organization decides for every request. */
export interface OrganizationPolicy {
  /** Ids of the providers that may be called; null for all. */
  readonly providers: ReadonlySet<string> | null;
  readonly models: ReadonlySet<string> | null;
  readonly keepsBodies: boolean;
  /** Rather no request than one without a record. */
  readonly needsLog: boolean;
}

/** The caller. Created once per credential and shared by requests: never change one. */
export interface Principal {
  readonly kind: PrincipalKind;
  /** Null for a caller with a signed token. */
  readonly apiKeyId: string | null;
  readonly name: string;
  readonly organizationId: string;
  /** Null for a caller that reaches every workspace of the organization. */
  readonly workspaceId: string | null;
  /** The user to whom the credential belongs; null for services. */
  readonly userId: string | null;
  /** The user on whose authority the credential acts: its owner or its creator. */
  readonly authorityId: string | null;
  /** Never more than that user may do now. */
  readonly scopes: ReadonlySet<Scope>;
  /** Of the API keys it reaches those of the user on whose authority it acts, and no others. */
  readonly hasOnlyOwnKeys?: true;
  /** The user to whose own keys' traffic logs and analytics are narrowed; absent for a caller that sees all within reach. */
  readonly seesOnlyOf?: string;
  /** Absent when nothing limits the caller. */
  readonly limits?: CallerLimits;
  /** Null where the organization decides nothing. */
  readonly policy: OrganizationPolicy | null;
  /** Absent where the key has no config of its own and takes any. */
  readonly routing?: KeyRouting | undefined;
  /** Guardrails of the organization and the workspace, before all others. Absent where there are none. */
  readonly guardrails?: HookLists;
  /** What every request of the workspace or the key carries, whatever it says itself. Absent where there is nothing. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** What the workspace says of the response cache where configs and requests do not. Absent where it says nothing. */
  readonly cache?: CacheRules;
  /** What becomes of an attempt whose client leaves, by the workspace's rule. Absent where it has none. */
  readonly onClientDisconnect?: ClientDisconnectRule;
}

/** Which config requests of a key go by when they name none, and whether they may name one. */
export interface KeyRouting {
  /** Id or slug. */
  readonly configId: string | null;
  readonly allowsOverride: boolean;
}
