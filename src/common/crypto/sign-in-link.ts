import { OpaqueTokens } from './opaque-tokens.js';
import type { Secret } from '../settings/secret.js';
import { uuidV7 } from '../ids/uuid-v7.js';

/** The dashboard page of the link, below the address of the service. */
const SET_UP_PAGE = 'ui/set-up';

/** `set_up`: the first owner sets an email address and a password. `reset`: a user sets a new password. */
export type SignInLinkPurpose = 'set_up' | 'reset';

const HOUR_MS = 60 * 60_000;
const LASTS_MS: Readonly<Record<SignInLinkPurpose, number>> = {
  set_up: 7 * 24 * HOUR_MS,
  reset: 24 * HOUR_MS,
};

/** Pages distinguish the two by the prefix of the token. */
const PREFIXES: Readonly<Record<SignInLinkPurpose, string>> = { set_up: 'gw_setup_', reset: 'gw_reset_' };

interface LinkOwner {
  readonly id: string;
  readonly organizationId: string;
}

export interface IssuedSignInLink {
  readonly token: Secret;
  /** The row of `sign_in_links`. */
  readonly stored: {
    readonly id: string;
    readonly organizationId: string;
    readonly userId: string;
    readonly purpose: SignInLinkPurpose;
    readonly tokenHash: Buffer;
    readonly expiresAt: Date;
  };
}

export function issueSignInLink(
  pepper: Secret,
  owner: LinkOwner,
  purpose: SignInLinkPurpose,
): IssuedSignInLink {
  const { token, hash } = new OpaqueTokens(pepper).issue('sign-in link', PREFIXES[purpose]);
  const now = Date.now();
  const { organizationId, id: userId } = owner;
  const expiresAt = new Date(now + LASTS_MS[purpose]);
  return { token, stored: { id: uuidV7(now), organizationId, userId, purpose, tokenHash: hash, expiresAt } };
}

/** The token follows the `#`: browsers send that part to no server and in no referrer. */
export function signInLink(baseUrl: string, token: string): string {
  return `${baseUrl}/${SET_UP_PAGE}#${token}`;
}
