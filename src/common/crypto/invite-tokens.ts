import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { bytesToBase62 } from '../ids/base62.js';
import { Secret } from '../settings/secret.js';

/** The purpose of a token, which is not valid for any other. */
export interface InvitePurpose {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
}

export interface IssuedInviteToken {
  readonly token: Secret;
  /** The only form that may be stored. */
  readonly hash: Buffer;
}

/** `gw_invite_`, the id of the invite in hex, and 32 random bytes in base62. */
const TOKEN =
  /^gw_invite_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[0-9A-Za-z]{43}$/;
const RANDOM_BYTES = 32;
const RANDOM_WIDTH = 43;

/**
 * The tokens of invites. The hash is keyed with the server's pepper and covers invite, organization and email address: a stolen table
 * grants no access, and a row that was tampered with no longer matches its token.
 */
export class InviteTokens {
  private readonly pepper: Buffer;

  constructor(pepper: Secret) {
    this.pepper = Buffer.from(pepper.reveal(), 'base64');
  }

  issue(purpose: InvitePurpose): IssuedInviteToken {
    const random = bytesToBase62(randomBytes(RANDOM_BYTES), RANDOM_WIDTH);
    const token = new Secret(`gw_invite_${purpose.id.replaceAll('-', '')}_${random}`);
    return { token, hash: this.hashOf(purpose, token) };
  }

  isTokenOf(purpose: InvitePurpose, token: Secret, hash: Buffer | null): boolean {
    const actual = this.hashOf(purpose, token);
    return hash?.length === actual.length && timingSafeEqual(actual, hash);
  }

  private hashOf({ id, organizationId, email }: InvitePurpose, token: Secret): Buffer {
    const signed = ['invite', id, organizationId, email, token.reveal()].join('\n');
    return createHmac('sha256', this.pepper).update(signed).digest();
  }
}

/** The invite id in a token; null for a text that is not a token. */
export function inviteIdOf(token: Secret): string | null {
  const parts = TOKEN.exec(token.reveal());
  return parts === null ? null : parts.slice(1).join('-');
}
