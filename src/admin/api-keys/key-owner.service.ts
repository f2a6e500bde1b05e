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
import { checkRepeatedId } from '../http/repeated-id.js';
import type { CreateApiKeyDto } from './api-key-bodies.dto.js';
import { KeyAuthorityService } from './key-authority.service.js';

/** Decides to which organization and which user a new key belongs. */
@Injectable()
export class KeyOwnerService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
    private readonly authority: KeyAuthorityService,
  ) {}

  /** The body may name the organization and the kind of key, but only the caller's own and that of the path. */
  checkRepeated(caller: Principal, dto: CreateApiKeyDto, kind: ApiKeyType): void {
    const named = dto.organisation_id;
    if (named !== undefined && named.toLowerCase() !== caller.organizationId)
      throw new AppError('not_found', { resource: 'organisation' });
    const [type = '', subType = ''] = kind.split('-');
    checkRepeatedId('type', dto.type, type);
    checkRepeatedId('sub-type', dto['sub-type'], subType);
  }

  /** The named user, or the one on whose authority the caller acts. Refuses with `forbidden` a user who ranks above the caller. */
  async userFor(caller: Principal, tenant: Tenant, named?: string): Promise<string> {
    const { organizationId, workspaceId } = tenant;
    const id = this.ownerNamed(caller, named);
    const user = await this.users.findOneBy({ organizationId, id, status: 'active' });
    if (!user) throw new AppError('not_found', { resource: 'user' });
    const roles = { organization: user.role, workspace: await this.roleIn(workspaceId, user.id) };
    if (scopesOfRoles(roles).size === 0)
      throw new AppError('invalid_request', {
        detail: 'The user is not a member of this workspace. Add them to the workspace first.',
      });
    await this.authority.checkMayCreateFor(caller, tenant, user.id);
    return user.id;
  }

  private ownerNamed(caller: Principal, named?: string): string {
    const own = this.authority.userOf(caller);
    if (!caller.hasOnlyOwnKeys) return named ?? own;
    if (named !== undefined && named.toLowerCase() !== own)
      throw new AppError('not_found', { resource: 'user' });
    return own;
  }

  private async roleIn(workspaceId: string, userId: string): Promise<WorkspaceRole | null> {
    const member = await this.members.findOneBy({ workspaceId, userId });
    return member?.role ?? null;
  }
}
