/** A user's role in the organization. */
export type OrganizationRole = 'owner' | 'admin' | 'member';

/** A user's role in one workspace. */
export type WorkspaceRole = 'admin' | 'manager' | 'member';
