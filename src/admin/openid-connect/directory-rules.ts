import type { Claims } from '../../auth/tokens/compact-token.js';
import { type GivenRoles, rolesGiven, valuesIn } from '../../auth/tokens/just-in-time-user.js';
import type { RoleMapping } from '../../auth/tokens/token-rules.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';

/** An organization's rules for users of a provider. */
export interface DirectoryRules {
  /** The claim that the role mappings use. */
  readonly groupsClaim: string;
  readonly roleMappings: readonly RoleMapping[];
  /** Whether a first sign-in creates a user. */
  readonly createsUsers: boolean;
  /** Whether each sign-in sets the mapped roles again, and removes those that the directory removed. */
  readonly rolesFollowDirectory: boolean;
}

/** Only owners grant ownership. */
const HIGHEST_ROLES = { organisation: 'admin', workspace: 'admin' } as const;

/**
 * Entra's claim that the domain of the address belongs to its tenant.
 * https://learn.microsoft.com/entra/identity-platform/optional-claims-reference
 */
export const DOMAIN_OWNER_VERIFIED = 'xms_edov';
const YES: ReadonlySet<unknown> = new Set([true, 'true', 1, '1']);

/** Whether the provider says that an address is not verified. An absent claim says nothing. */
export const isDenied = (claim: unknown): boolean => claim !== undefined && !YES.has(claim);

/**
 * The roles of a user with these claims. Refuses with `sso_groups_overage` if the claims only contain the address of the groups:
 * https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference#groups-overage-claim
 */
export function rolesIn(claims: Claims, { groupsClaim, roleMappings }: DirectoryRules): GivenRoles {
  if (roleMappings.length > 0 && isOverage(claims, groupsClaim)) throw new AppError('sso_groups_overage');
  return rolesGiven(valuesIn(claims, [groupsClaim]), { roleMappings, highestRoles: HIGHEST_ROLES });
}

function isOverage(claims: Claims, name: string): boolean {
  const elsewhere = claims['_claim_names'];
  const isElsewhere = typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, name);
  return claims[name] === undefined && (isElsewhere || claims['hasgroups'] !== undefined);
}

/** The email address that the provider has verified, normalized; null without one. */
export function verifiedEmailIn(claims: Claims): string | null {
  const { email, email_verified: isVerified } = claims;
  const isDomainOwner = claims[DOMAIN_OWNER_VERIFIED];
  const isVouchedFor = YES.has(isVerified) || YES.has(isDomainOwner);
  return isVouchedFor && !isDenied(isVerified) && !isDenied(isDomainOwner) && typeof email === 'string'
    ? normalizeEmail(email)
    : null;
}

const LONGEST_NAME = 120;

/** First and last name, if the provider sends them. */
export function namesIn(claims: Claims): {
  readonly firstName: string | null;
  readonly lastName: string | null;
} {
  const text = (name: string): string | null => {
    const value = claims[name];
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, LONGEST_NAME) : null;
  };
  return { firstName: text('given_name'), lastName: text('family_name') };
}
