import type { Principal } from './principal.js';

/** Whose a row is. */
export interface Tenant {
  readonly organizationId: string;
  readonly workspaceId: string;
}

/** What a caller may see: one workspace, or every one of its organization. */
export interface Reach {
  readonly organizationId: string;
  readonly workspaceId?: string;
}

/** Spread it into every query, `findOneBy({ id, ...reach })`, so that no query returns another tenant's rows. */
export function reachOf({ organizationId, workspaceId }: Principal): Reach {
  return workspaceId ? { organizationId, workspaceId } : { organizationId };
}
