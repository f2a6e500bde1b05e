import type { Principal } from '../../auth/principal.js';

/** For audit records of what comes from a provider: `userId` is null where no user here has the name. */
export const directoryActor = (organizationId: string, name: string, userId: string | null): Principal => ({
  ...{ kind: 'person', apiKeyId: null, name, organizationId, workspaceId: null },
  ...{ userId, authorityId: userId, scopes: new Set(), policy: null },
});
