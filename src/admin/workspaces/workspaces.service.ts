import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/principal.js';
import { type Reach, reachOf, type Tenant } from '../../auth/tenant.js';
import { Workspace } from '../../common/database/entities/workspace.entity.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

/** Finds workspaces by their id or slug, within the reach of the caller. */
@Injectable()
export class WorkspacesService {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Where a new row goes: the caller's own workspace, or for an organization-wide caller the one it names. */
  async tenantFor(caller: Principal, named: string | undefined): Promise<Tenant> {
    if (named !== undefined) return this.find(reachOf(caller), named);
    const { organizationId, workspaceId } = caller;
    if (workspaceId === null)
      throw new AppError('invalid_request', { detail: 'The field "workspace_id" is missing.' });
    return { organizationId, workspaceId };
  }

  /** The caller's own workspace, or the one that it names; null for an organization-wide caller who names none. */
  async ownOrNamed(caller: Principal, named: string | undefined): Promise<Workspace | null> {
    if (named === undefined && caller.workspaceId === null) return null;
    const { workspaceId: id } = await this.tenantFor(caller, named);
    return this.unitOfWork.repository(Workspace).findOneByOrFail({ id });
  }

  /** What a list shows: everything within reach, or of that the workspace that is named. */
  async narrowed(caller: Principal, named: string | undefined): Promise<Reach> {
    return named === undefined ? reachOf(caller) : this.find(reachOf(caller), named);
  }

  /** Another tenant's workspace is "not found", not "forbidden": a 403 would tell that it exists. */
  private async find({ organizationId, workspaceId }: Reach, named: string): Promise<Tenant> {
    const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
    const workspace = await this.unitOfWork.repository(Workspace).findOneBy({ organizationId, ...which });
    if (!workspace || (workspaceId !== undefined && workspace.id !== workspaceId))
      throw new AppError('not_found', { resource: 'workspace' });
    return { organizationId, workspaceId: workspace.id };
  }
}
