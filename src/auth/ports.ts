import type { Principal } from './principal.js';

/** How and when a key ended. */
export interface KeyEnd {
  readonly reason: 'expired' | 'revoked' | 'replaced';
  readonly at: Date;
}

/** A credential as a directory holds it. */
export interface KnownKey {
  readonly principal: Principal;
  /** Milliseconds since the epoch, or null when the credential presented does not expire. */
  readonly expiresAt: number | null;
}

/**
 * Finds the caller of a presented API key, from memory where possible.
 *
 * Answers null for a key that is unknown or revoked, and rejects with
 * `auth_unavailable` when the store is unavailable and the key is not known.
 */
export abstract class ApiKeyDirectory {
  /**
   * Why a key that `find` does not return is no longer valid; null for one that never was a key here. `secret` is a well-formed key, and only a
   * caller with the whole of it gets the reason. Null also when the store is unavailable.
   */
  abstract endOf(secret: string): Promise<KeyEnd | null>;

  /** `secret` is a well-formed key. Returns without a promise when the answer is in memory. */
  abstract find(secret: string): KnownKey | null | Promise<KnownKey | null>;
}

/** Finds the caller of a signed token, from memory where possible. */
export abstract class TokenDirectory {
  /**
   * `token` looks like one. Answers null for a token that is not to be believed. Rejects with `forbidden` when it names
   * a workspace that is not open to it, with `auth_unavailable` when the store is unavailable and the token is not known, and
   * with an `UnknownPerson` when the organization takes newcomers and the token names one.
   */
  abstract find(token: string): KnownKey | null | Promise<KnownKey | null>;

  /** Whether a token says that it is for an organization of ours which takes tokens, and not for a provider. Never rejects. */
  abstract isOurs(token: string): boolean | Promise<boolean>;
}

/** A dashboard session that has not ended, with what its user may do now. */
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
  /** Why the principal has no scopes: the user belongs to several workspaces and the request names none. */
  readonly needsWorkspace: boolean;
}

/** Finds the session that a cookie names. */
export abstract class SessionDirectory {
  /**
   * Reads the store every time, so that a session that has ended anywhere has ended everywhere. Null for a session
   * that is unknown, over, or of a deactivated user. `workspace`, an id or a slug, narrows the principal: rejects with
   * `forbidden` where it is not open to the user.
   */
  abstract find(secret: string, workspace: string | null): Promise<KnownSession | null>;
}

/** The caller that started something in a workspace, by ids: stored with the thing after the request has ended. */
export interface Actor {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string | null;
  /** The user, where the caller presented no key. */
  readonly userId: string | null;
}

/** The rights of a caller in a workspace at this moment. */
export type Rights = Pick<Principal, 'scopes' | 'seesOnlyOf'>;

/** For work that continues after its request, and for links: no credential is presented there, and rights may have been revoked since. */
export abstract class CurrentRights {
  /** Reads the store every time. Null when the credential is gone or does not reach the workspace. */
  abstract of(actor: Actor): Promise<Rights | null>;
}
