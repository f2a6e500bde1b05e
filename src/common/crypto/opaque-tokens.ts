import { createHmac, randomBytes } from 'node:crypto';
import { bytesToBase62 } from '../ids/base62.js';
import { Secret } from '../settings/secret.js';

/** The purpose of a token or hash. It is part of the hash, so a token is valid for one purpose only. */
export type TokenPurpose =
  | 'session'
  | 'sign-in link'
  | 'recovery code'
  | 'sign-in brake'
  | 'passkey challenge'
  | 'known device'
  | 'sign-on state'
  | 'logout token';

export interface IssuedToken {
  /** Shown once. */
  readonly token: Secret;
  /** The only form that may be stored. */
  readonly hash: Buffer;
}

const RANDOM_BYTES = 32;
const RANDOM_WIDTH = 43;

/**
 * Random tokens of 256 bits, stored as HMAC-SHA-256 with the server's pepper: a stolen table grants no access, and a stored hash is not
 * itself a token.
 */
export class OpaqueTokens {
  private readonly pepper: Buffer;

  constructor(pepper: Secret) {
    this.pepper = Buffer.from(pepper.reveal(), 'base64');
  }

  issue(purpose: TokenPurpose, prefix = ''): IssuedToken {
    const token = prefix + bytesToBase62(randomBytes(RANDOM_BYTES), RANDOM_WIDTH);
    return { token: new Secret(token), hash: this.hashOf(purpose, token) };
  }

  hashOf(purpose: TokenPurpose, text: string): Buffer {
    return createHmac('sha256', this.pepper).update(`${purpose}\n${text}`).digest();
  }
}
