import type { SignatureAlgorithm } from './algorithms.js';

/** Which claims say what. Of several names the first that a token has counts. */
export interface ClaimNames {
  readonly user: readonly string[];
  readonly organisation: readonly string[];
  readonly workspace: readonly string[];
  readonly scopes: readonly string[];
}

/** The tokens that an organization accepts. */
export interface TokenRules {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Values of the header `typ`, small letters; a token without one counts as `jwt`. */
  readonly tokenTypes: readonly string[];
  /** The longest time from a token's issue, or from now where it does not say, to its expiry. */
  readonly maxLifetimeSeconds: number;
  readonly claims: ClaimNames;
}

/** Names of the compatible API. */
export const DEFAULT_CLAIMS: ClaimNames = {
  user: ['email_id', 'sub', 'uid'],
  organisation: ['organisation_id', 'portkey_oid'],
  workspace: ['workspace_slug', 'portkey_workspace'],
  scopes: ['scope', 'scopes'],
};

export const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];
export const DEFAULT_TOKEN_TYPES: readonly string[] = ['jwt', 'at+jwt'];
export const DEFAULT_MAX_LIFETIME_SECONDS = 86_400;
