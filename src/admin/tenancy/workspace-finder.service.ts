import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { type Reach, reachOf, type Tenant } from '../../auth/tenant.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { unknownSlug } from '../slugs/unknown-slug.js';
import { Workspace } from './workspace.entity.js';
import { fieldError } from '../../common/errors/field-errors.js';

const NO_WORKSPACE =
  'is missing. Send the id or slug of a workspace, or use an API key of the workspace, which needs none';

export const tenantOf = ({ organizationId, id }: Workspace): Tenant => ({ organizationId, workspaceId: id });

/** Finds workspaces by id or slug, as far as the caller can access them. */
@Injectable()
export class WorkspaceFinder {
  constructor(@InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>) {}

  /** The tenant of a new row: the caller's own workspace, or for an organization-wide caller the named one. */
  async tenantFor(caller: Principal, named: string | undefined): Promise<Tenant> {
    if (named !== undefined) return tenantOf(await this.get(caller, named));
    const { organizationId, workspaceId } = caller;
    if (workspaceId === null) throw fieldError('workspace_id', NO_WORKSPACE);
    return { organizationId, workspaceId };
  }

  /** The caller's own workspace, or the named one; null for an organization-wide caller that names none. */
  async ownOrNamed(caller: Principal, named: string | undefined): Promise<Workspace | null> {
    if (named === undefined && caller.workspaceId === null) return null;
    const { workspaceId: id } = await this.tenantFor(caller, named);
    return this.workspaces.findOneByOrFail({ id });
  }

  /** The scope of a list: everything the caller can access, or the named workspace. */
  async narrowed(caller: Principal, named: string | undefined): Promise<Reach> {
    return named === undefined ? reachOf(caller) : tenantOf(await this.get(caller, named));
  }

  /** Another tenant's workspace is "not found", not "forbidden": a 403 would reveal that it exists. */
  async get(caller: Principal, named: string, lock = false): Promise<Workspace> {
    const { organizationId, workspaceId } = reachOf(caller);
    const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
    const workspace =
      isUuid(named) || isSlug(named)
        ? await this.workspaces.findOne({
            where: { organizationId, ...which },
            ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
          })
        : null;
    if (!workspace || (workspaceId !== undefined && workspace.id !== workspaceId))
      throw await unknownSlug({ resource: 'workspace', named }, this.workspaces, {
        organizationId,
        ...(workspaceId === undefined ? {} : { id: workspaceId }),
      });
    return workspace;
  }
}
