import { Injectable } from '@nestjs/common';
import { administersOrganization, type Roles, scopesOfRoles } from '../../auth/permissions/roles.js';
import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import type { User } from '../tenancy/user.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const KEYS_OF_MAKER = `
  organization_id = $1 AND created_by_user_id = $2 AND user_id IS NULL AND deleted_at IS NULL`;

/** Transfers keys to another authority with the scopes that were effective until now: `$4` of those they have. */
const TRANSFER_NARROWED_KEYS = `
  UPDATE api_keys SET created_by_user_id = $3, updated_at = now(),
    scopes = ARRAY(SELECT scope FROM unnest(scopes) scope WHERE scope = ANY($4::text[]) ORDER BY scope)
  WHERE ${KEYS_OF_MAKER}
    AND ($5::text IS NULL OR workspace_id IN (
      SELECT workspace_id FROM workspace_members WHERE organization_id = $1 AND user_id = $2 AND role = $5))`;

const WORKSPACE_ROLES: readonly WorkspaceRole[] = ['admin', 'manager', 'member'];

/**
 * Transfers the service keys that a user created to another user, so that services using them keep running.
 *
 * A key never gains rights: it keeps only the scopes that were effective under the old authority, because the new one may be allowed more.
 */
@Injectable()
export class ServiceKeyHandover {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  async transferKeys(from: User, to: User, switches: PolicyFlags | null): Promise<void> {
    for (const [role, scopes] of stillAllowed(from, switches))
      await this.unitOfWork.manager.query(TRANSFER_NARROWED_KEYS, [
        from.organizationId,
        from.id,
        to.id,
        [...scopes],
        role,
      ]);
  }
}

type Allowance = readonly [role: WorkspaceRole | null, scopes: Iterable<string>];

/** Effective scopes by workspace, for the user's role there. Null stands for all other workspaces. */
function stillAllowed({ role: organization, status }: User, switches: PolicyFlags | null): Allowance[] {
  const of = (workspace: Roles['workspace']) => scopesOfRoles({ organization, workspace }, switches);
  if (status !== 'active') return [[null, []]];
  if (administersOrganization({ organization, workspace: null }))
    return [[null, scopesOfRoles({ organization, workspace: null })]];
  return [...WORKSPACE_ROLES.map((role): Allowance => [role, of(role)]), [null, []]];
}
