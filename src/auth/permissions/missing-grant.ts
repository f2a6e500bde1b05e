import type { Principal } from '../principal.js';
import { type Scope, SCOPES } from '../scopes.js';

/** The first of these scopes that the caller may not grant: nobody grants more than they have. */
export const missingGrant = (caller: Principal, scopes: Iterable<Scope>): Scope | undefined =>
  [...scopes].find((scope) => !mayGrant(caller, scope));

/**
 * An admin key creates keys for every workspace although it may not call models itself. So it can also grant the scopes that only workspace
 * keys can have.
 */
function mayGrant(caller: Principal, scope: Scope): boolean {
  return caller.scopes.has(scope) || (caller.kind === 'admin_key' && !SCOPES[scope].admin);
}
