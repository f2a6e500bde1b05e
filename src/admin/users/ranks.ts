import { AppError } from '../../common/errors/app-error.js';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import type { User } from '../tenancy/user.entity.js';

const RANK: Readonly<Record<OrganizationRole, number>> = { owner: 3, admin: 2, member: 1 };

export const isAbove = (role: OrganizationRole, other: OrganizationRole): boolean => RANK[role] > RANK[other];

/** Users can act on users of lower rank and on themselves, and owners on everyone. Refuses with `forbidden`. */
export function checkMayActOn(actor: User, user: User): void {
  if (actor.role === 'owner' || actor.id === user.id || isAbove(actor.role, user.role)) return;
  throw new AppError('forbidden', { detail: `an ${actor.role} cannot change an ${user.role}` });
}

/** No user can grant a higher role than their own. Refuses with `forbidden`. */
export function checkMayGrant(actor: User, role: OrganizationRole): void {
  if (isAbove(role, actor.role))
    throw new AppError('forbidden', { detail: `it cannot give the role "${role}", which is above its own` });
}
