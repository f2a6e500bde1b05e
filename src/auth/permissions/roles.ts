import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import { isScope, type Scope, SCOPES } from '../scopes.js';
import { seesAllData, switched, type SwitchedRole } from './switches.js';

/** The roles of one user: in the organization, and in the workspace in question; null without one. */
export interface Roles {
  readonly organization: OrganizationRole;
  readonly workspace: WorkspaceRole | null;
}

const EVERY_SCOPE: ReadonlySet<Scope> = new Set(Object.keys(SCOPES).filter(isScope));
const NONE: ReadonlySet<Scope> = new Set();

/** Everything within one workspace: the scopes that its service keys can have. */
const WITHIN_A_WORKSPACE: ReadonlySet<Scope> = new Set(
  [...EVERY_SCOPE].filter((scope) => SCOPES[scope].service),
);

/** Members use what exists: they call models and read, but change nothing and create no keys. */
const USING: ReadonlySet<Scope> = new Set([...EVERY_SCOPE].filter((scope) => SCOPES[scope].member));

const IN_WORKSPACE: Readonly<Record<WorkspaceRole, ReadonlySet<Scope>>> = {
  admin: WITHIN_A_WORKSPACE,
  manager: WITHIN_A_WORKSPACE,
  member: USING,
};

/** Owners and admins of the organization administer all of its workspaces. */
export const administersOrganization = ({ organization }: Roles): boolean => organization !== 'member';

/** Members see and change only their own API keys, whatever their scopes. */
export const keysWithin = (roles: Roles | null): { readonly hasOnlyOwnKeys?: true } =>
  roles && !administersOrganization(roles) && roles.workspace === 'member' ? { hasOnlyOwnKeys: true } : {};

/**
 * The maximum scopes of a user, after the organization's switches. A credential never has more rights than the user on whose authority it
 * acts, whatever scopes it was given.
 */
export function scopesOfRoles(roles: Roles, switches: PolicyFlags | null = null): ReadonlySet<Scope> {
  if (administersOrganization(roles)) return switched(EVERY_SCOPE, 'organization_admin', switches);
  if (roles.workspace === null) return NONE;
  return switched(IN_WORKSPACE[roles.workspace], switchedRoleOf(roles), switches);
}

/** The value of `Principal.seesOnlyOf` for a user with these roles, to be spread into the principal. */
export function narrowedVisibility(
  userId: string,
  roles: Roles,
  switches: PolicyFlags | null,
): { readonly seesOnlyOf?: string } {
  return seesAllData(switchedRoleOf(roles), switches) ? {} : { seesOnlyOf: userId };
}

function switchedRoleOf(roles: Roles): SwitchedRole {
  if (administersOrganization(roles)) return 'organization_admin';
  return roles.workspace === 'admin' || roles.workspace === 'manager' ? 'manager' : 'member';
}
