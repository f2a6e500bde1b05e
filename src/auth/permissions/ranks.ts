import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { Roles } from './roles.js';

const IN_ORGANIZATION: Readonly<Record<OrganizationRole, number>> = { owner: 4, admin: 3, member: 0 };
/** Admins and managers of a workspace have the same rights. */
const IN_WORKSPACE: Readonly<Record<WorkspaceRole, number>> = { admin: 2, manager: 2, member: 1 };

/** The higher of a user's two ranks. A member of the organization has only the rank of their workspace role. */
export const rankOf = ({ organization, workspace }: Roles): number =>
  Math.max(IN_ORGANIZATION[organization], workspace === null ? 0 : IN_WORKSPACE[workspace]);

/** Whether users with these roles rank above users with the others. */
export const ranksAbove = (roles: Roles, others: Roles): boolean => rankOf(roles) > rankOf(others);
