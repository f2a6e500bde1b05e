import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { scopesOfRoles } from '../../auth/permissions/roles.js';
import type { Tenant } from '../../auth/tenant.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { checkRepeated } from '../repeated-id.js';
import type { CreateApiKeyDto } from './api-key.dto.js';

/** Decides to which organization and which user a new key belongs. */
@Injectable()
export class KeyOwnerService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
  ) {}

  /** The body may name the organization and the kind of key, but only the caller's own and that of the path. */
  checkRepeated(caller: Principal, dto: CreateApiKeyDto, kind: ApiKeyType): void {
    const named = dto.organisation_id;
    if (named !== undefined && named.toLowerCase() !== caller.organizationId)
      throw new AppError('not_found', { resource: 'organisation' });
    const [type = '', subType = ''] = kind.split('-');
    checkRepeated('type', dto.type, type);
    checkRepeated('sub-type', dto['sub-type'], subType);
  }

  /** The named user, or the caller's own, or the organization's first owner. */
  async userFor(caller: Principal, { organizationId, workspaceId }: Tenant, named?: string): Promise<string> {
    const id = ownerNamed(caller, named);
    const user =
      id === null
        ? await this.users.findOne({
            where: { organizationId, role: 'owner', status: 'active' },
            order: { createdAt: 'ASC', id: 'ASC' },
          })
        : await this.users.findOneBy({ organizationId, id, status: 'active' });
    if (!user) throw new AppError('not_found', { resource: 'user' });
    const roles = { organization: user.role, workspace: await this.roleIn(workspaceId, user.id) };
    if (scopesOfRoles(roles).size === 0)
      throw new AppError('invalid_request', {
        detail: 'The user is not a member of this workspace. Add them to the workspace first.',
      });
    return user.id;
  }

  private async roleIn(workspaceId: string, userId: string): Promise<WorkspaceRole | null> {
    const member = await this.members.findOneBy({ workspaceId, userId });
    return member?.role ?? null;
  }
}

/** Null for a service key without a user. */
function ownerNamed({ userId, authorityId, hasOnlyOwnKeys }: Principal, named?: string): string | null {
  if (!hasOnlyOwnKeys) return named ?? userId;
  if (named !== undefined && named.toLowerCase() !== authorityId)
    throw new AppError('not_found', { resource: 'user' });
  return authorityId;
}
