import type { Principal } from './principal.js';

/** A credential as a directory knows it. */
export interface KnownKey {
  readonly principal: Principal;
  /** Milliseconds since the epoch, or null when the credential presented does not expire. */
  readonly expiresAt: number | null;
}

/**
 * Finds who a presented API key belongs to, from memory where possible.
 *
 * Answers null for a key that is unknown or revoked, and rejects with
 * `auth_unavailable` when the store is away and the key is not known.
 */
export abstract class ApiKeyDirectory {
  /** `secret` is a well-formed key. Returns without a promise when the answer is in memory. */
  abstract find(secret: string): KnownKey | null | Promise<KnownKey | null>;
}

/** Finds who a signed token stands for, from memory where possible. */
export abstract class TokenDirectory {
  /**
   * `token` looks like one. Answers null for a token that is not to be believed. Rejects with `forbidden` when it names
   * a workspace that is not open to it, with `auth_unavailable` when the store is away and the token is not known, and
   * with an `UnknownPerson` when the organization takes newcomers and the token names one.
   */
  abstract find(token: string): KnownKey | null | Promise<KnownKey | null>;

  /** Whether a token says that it is for an organization of ours which takes tokens, and not for a provider. Never rejects. */
  abstract isOurs(token: string): boolean | Promise<boolean>;
}

/** Who asked for something in a workspace, by ids: as the thing remembers it after the request is over. */
export interface Actor {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string | null;
  /** The person, where nobody came with a key. */
  readonly userId: string | null;
}

/** What somebody may do in a workspace at this moment. */
export type Rights = Pick<Principal, 'scopes' | 'seesOnlyOf'>;

/** For work that goes on after its request, and for links: nobody presents a credential there, and rights may be gone since. */
export abstract class CurrentRights {
  /** Asks the store every time. Null when the credential is gone or does not reach the workspace. */
  abstract of(actor: Actor): Promise<Rights | null>;
}
