import type { Claims } from '../../auth/tokens/compact-token.js';
import { DOMAIN_OWNER_VERIFIED, isDenied } from './directory-rules.js';

/**
 * Claims that qualify each other come from one document: the first claim of a row decides which. Mixed, an address of one document would be
 * vouched for by the other one. All other claims have their meaning alone.
 */
const CLAIM_GROUPS = [
  ['email', 'email_verified', DOMAIN_OWNER_VERIFIED],
  ['given_name', 'family_name'],
] as const;

/** A denial counts in either document. */
const DENIABLE = ['email_verified', DOMAIN_OWNER_VERIFIED] as const;

/** The claims of an ID token and of the userinfo response about the same subject. The ID token takes precedence. */
export function joinedClaims(idToken: Claims, userInfo: Claims): Claims {
  const [first, second] = [{ ...idToken }, { ...userInfo }];
  for (const group of CLAIM_GROUPS) {
    const other = first[group[0]] === undefined ? first : second;
    for (const name of group) Reflect.deleteProperty(other, name);
  }
  const denied = DENIABLE.filter((name) => isDenied(idToken[name]) || isDenied(userInfo[name]));
  return { ...second, ...first, ...Object.fromEntries(denied.map((name) => [name, false])) };
}
