import type { OrganizationRole } from '../../common/contracts/roles.js';
import { AppError } from '../../common/errors/app-error.js';
import { administersOrganization } from '../permissions/roles.js';
import { ranksAbove } from '../permissions/ranks.js';
import type { TokenRules } from './token-rules.js';

/**
 * The present role of the user who set which tokens an organization accepts; null once that user was deactivated or removed. Settings from
 * before authors were stored count as set by an admin.
 */
export type AuthorRole = OrganizationRole | null;

/**
 * Whoever sets the keys of tokens can sign one for any user. So no token gives more than its author has now: without an administrator
 * behind the rules, none is accepted. Refuses with `forbidden`.
 */
export function checkAuthor(author: AuthorRole): asserts author is OrganizationRole {
  if (author === null || !administersOrganization(rolesOf(author)))
    throw refused('the user who set which signed tokens are accepted no longer administers the organization');
}

/** Refuses with `forbidden` a user above the author, and an owner unless the rules allow owners. */
export function checkMayStandFor(
  role: OrganizationRole,
  author: OrganizationRole,
  { allowsOwners = false }: TokenRules,
): void {
  if (ranksAbove(rolesOf(role), rolesOf(author)))
    throw refused('the user ranks above the user who set which signed tokens are accepted');
  if (role === 'owner' && !allowsOwners)
    throw new AppError('forbidden', {
      detail: 'signed tokens of this organization do not stand for owners; an owner can set "allow_owners"',
    });
}

const rolesOf = (organization: OrganizationRole) => ({ organization, workspace: null });

const refused = (detail: string): AppError =>
  new AppError('forbidden', { detail: `${detail}; an owner must save the setting again` });
