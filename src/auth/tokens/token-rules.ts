import type { WorkspaceRole } from '../../common/contracts/roles.js';
import type { SignatureAlgorithm } from '../../common/contracts/signature-algorithms.js';

/** Claim names by meaning. The first one that a token contains is used. */
export interface ClaimNames {
  readonly user: readonly string[];
  readonly organisation: readonly string[];
  readonly workspace: readonly string[];
  readonly scopes: readonly string[];
  /** Absent in settings from before role mappings existed. */
  readonly roles?: readonly string[];
}

/** Tokens of unknown users: they act as services, are refused, or create the user. */
export type UnknownPeople = 'service' | 'refuse' | 'create';

/** The role that a value of the roles claim gives a new user. */
export interface RoleMapping {
  readonly value: string;
  readonly organisationRole?: 'admin' | 'member' | undefined;
  /** Id or slug. */
  readonly workspace?: string | undefined;
  readonly workspaceRole?: WorkspaceRole | undefined;
}

/** The highest role that a mapping can give. Ownership is never given. */
export interface HighestRoles {
  readonly organisation: 'admin' | 'member';
  readonly workspace: WorkspaceRole;
}

export interface UnknownUserRules {
  readonly unknownPeople: UnknownPeople;
  readonly roleMappings: readonly RoleMapping[];
  readonly highestRoles: HighestRoles;
  readonly mostPeople: number;
}

/** The tokens that an organization accepts. */
export interface TokenRules {
  readonly issuers: readonly string[];
  readonly audiences: readonly string[];
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Values of the header `typ`, in lower case; a token without one counts as `jwt`. */
  readonly tokenTypes: readonly string[];
  /** Maximum time from a token's issue (or from now, without `iat`) to its expiry. */
  readonly maxLifetimeSeconds: number;
  readonly claims: ClaimNames;
  /** Absent in earlier settings: unknown users act as services. */
  readonly newcomers?: UnknownUserRules;
  /** Whether tokens may stand for owners. Absent in earlier settings: they may not. */
  readonly allowsOwners?: boolean;
}

/** Names of the compatible API. */
export const DEFAULT_CLAIMS: Required<ClaimNames> = {
  user: ['email_id', 'sub', 'uid'],
  organisation: ['organisation_id', 'portkey_oid'],
  workspace: ['workspace_slug', 'portkey_workspace'],
  scopes: ['scope', 'scopes'],
  roles: ['roles', 'groups'],
};

export const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA'];
export const DEFAULT_TOKEN_TYPES: readonly string[] = ['jwt', 'at+jwt'];
export const DEFAULT_MAX_LIFETIME_SECONDS = 86_400;
export const DEFAULT_UNKNOWN_USER_RULES: UnknownUserRules = {
  unknownPeople: 'service',
  roleMappings: [],
  highestRoles: { organisation: 'member', workspace: 'member' },
  mostPeople: 10_000,
};
