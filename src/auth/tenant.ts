import type { Principal } from './principal.js';

/** The owner of a row. */
export interface Tenant {
  readonly organizationId: string;
  readonly workspaceId: string;
}

/** The scope of a caller: one workspace, or all of its organization. */
export interface Reach {
  readonly organizationId: string;
  readonly workspaceId?: string;
}

/** Spread it into every query, `findOneBy({ id, ...reach })`, so that no query returns another tenant's rows. */
export function reachOf({ organizationId, workspaceId }: Principal): Reach {
  return workspaceId ? { organizationId, workspaceId } : { organizationId };
}
