import type { CallerLimits } from '../common/limits/limit.js';
import type { Scope } from './scopes.js';

/** How the caller was identified. An admin key administers; it never calls models. */
export type PrincipalKind = 'admin_key' | 'workspace_service_key' | 'workspace_user_key';

/** Who is calling. Made once per credential and shared by requests: never change one. */
export interface Principal {
  readonly kind: PrincipalKind;
  readonly apiKeyId: string;
  readonly name: string;
  readonly organizationId: string;
  /** Null for an admin key, which reaches every workspace of its organization. */
  readonly workspaceId: string | null;
  readonly userId: string | null;
  readonly scopes: ReadonlySet<Scope>;
  /** Absent when nothing limits the caller. */
  readonly limits?: CallerLimits;
}
