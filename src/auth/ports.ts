import type { Principal } from './principal.js';

/** How and when a key ended. */
export interface KeyEnd {
  readonly reason: 'expired' | 'revoked' | 'replaced';
  readonly at: Date;
  readonly apiKeyId: string;
  readonly organizationId: string;
}

/** A credential as stored in a directory. */
export interface KnownKey {
  readonly principal: Principal;
  /** Milliseconds since the epoch, or null when the presented credential does not expire. */
  readonly expiresAt: number | null;
}

/**
 * Finds the caller of a presented API key, from memory if possible.
 *
 * Returns null for an unknown or revoked key, and rejects with `auth_unavailable` when the store is unavailable and the key is not cached.
 */
export abstract class ApiKeyDirectory {
  /**
   * Why a key that `find` does not return is no longer valid; null if it never was a key here. `secret` is a well-formed key, and only a
   * caller with all of it gets the reason. Null also when the store is unavailable.
   */
  abstract endOf(secret: string): Promise<KeyEnd | null>;

  /** `secret` is a well-formed key. Returns without a promise when the result is cached. */
  abstract find(secret: string): KnownKey | null | Promise<KnownKey | null>;
}

/** Finds the caller of a signed token, from memory if possible. */
export abstract class TokenDirectory {
  /**
   * `token` looks like one. Returns null for an invalid token. Rejects with `forbidden` when it names a workspace that it cannot access,
   * with `auth_unavailable` when the store is unavailable and the token is not cached, and with an `UnknownPerson` when the organization
   * accepts new users and the token names one.
   */
  abstract find(token: string): KnownKey | null | Promise<KnownKey | null>;

  /** Whether a token is addressed to an organization that accepts tokens, and not to a provider. Never rejects. */
  abstract isOurs(token: string): boolean | Promise<boolean>;
}

/** An active dashboard session, with its user's current rights. */
export interface KnownSession {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  /** Time of the user's last authentication. */
  readonly authenticatedAt: Date;
  /** Whether that was within the last 10 minutes, by the clock of the database. */
  readonly isRecent: boolean;
  readonly principal: Principal;
  /** The principal has no scopes because the user belongs to several workspaces and the request names none. */
  readonly needsWorkspace: boolean;
}

/** Finds the session of a cookie. */
export abstract class SessionDirectory {
  /**
   * Reads the store every time, so that ending a session takes effect everywhere. Null for a session that is unknown, expired, or of a
   * deactivated user. `workspace`, an id or a slug, narrows the principal: rejects with `forbidden` if the user cannot access it.
   */
  abstract find(secret: string, workspace: string | null): Promise<KnownSession | null>;
}

/** The caller that started work in a workspace, by ids: stored with the work beyond the request. */
export interface Actor {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string | null;
  /** The user, if the caller presented no key. */
  readonly userId: string | null;
}

/** The current rights of a caller in a workspace. */
export type Rights = Pick<Principal, 'scopes' | 'seesOnlyOf'>;

/** For work that continues after its request, and for links: they present no credential, and rights may have been revoked since. */
export abstract class CurrentRights {
  /** Reads the store every time. Null when the credential was removed or cannot access the workspace. */
  abstract of(actor: Actor): Promise<Rights | null>;
}
