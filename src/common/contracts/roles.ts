/** What a person is in the organization. */
export type OrganizationRole = 'owner' | 'admin' | 'member';

/** What a person is in one workspace. */
export type WorkspaceRole = 'admin' | 'manager' | 'member';
