import type { Principal } from '../../auth/principal.js';

/** The actor in audit records of provider-driven changes: `userId` is null if no user here matches the name. */
export const directoryActor = (organizationId: string, name: string, userId: string | null): Principal => ({
  ...{ kind: 'person', apiKeyId: null, name, organizationId, workspaceId: null },
  ...{ userId, authorityId: userId, scopes: new Set(), policy: null },
});
