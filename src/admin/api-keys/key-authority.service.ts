import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { rankOf, ranksAbove } from '../../auth/permissions/ranks.js';
import type { Roles } from '../../auth/permissions/roles.js';
import type { Principal } from '../../auth/principal.js';
import type { ApiKey } from './api-key.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { AppError } from '../../common/errors/app-error.js';

type KeyScope = Pick<ApiKey, 'organizationId' | 'workspaceId'>;

/** A key acts on the authority of a user, and so does whoever creates or changes one. */
const NO_AUTHORITY = 'only users and their API keys can create and change keys, and this token names no user';

/**
 * Whoever gets the secret of a key, or changes what it may do, acts on the authority of another user. So that user must not rank above the
 * caller, by the roles of both at this moment.
 */
@Injectable()
export class KeyAuthorityService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
  ) {}

  /** The id of the user on whose authority the caller acts. Refuses with `forbidden` a caller without one. */
  userOf({ authorityId }: Principal): string {
    if (authorityId === null) throw new AppError('forbidden', { detail: NO_AUTHORITY });
    return authorityId;
  }

  /** Refuses with `forbidden` a caller below the user on whose authority the key acts, also while that user is deactivated. */
  async checkMayChange(caller: Principal, key: ApiKey): Promise<void> {
    const authorityId = key.userId ?? key.createdByUserId;
    const role = await this.roleAbove(caller, key, authorityId);
    if (role !== null)
      throw new AppError('forbidden', {
        detail: `the key acts on the authority of ${role}, who ranks above you; revoke it and create another one, or ask them`,
      });
  }

  /** Refuses with `forbidden` a new key for a user who ranks above the caller: the caller would get its secret. */
  async checkMayCreateFor(caller: Principal, place: KeyScope, userId: string): Promise<void> {
    const role = await this.roleAbove(caller, place, userId);
    if (role !== null)
      throw new AppError('forbidden', {
        detail: `the key would act on the authority of ${role}, who ranks above you; they can create it`,
      });
  }

  /** The role of a user who ranks above the caller, in words; null for everyone else. */
  private async roleAbove(caller: Principal, place: KeyScope, userId: string | null): Promise<string | null> {
    const callerId = this.userOf(caller);
    if (userId === null || userId === callerId) return null;
    const [own, others] = [await this.rolesOf(callerId, place), await this.rolesOf(userId, place)];
    return ranksAbove(others, own) ? inWords(others) : null;
  }

  private async rolesOf(id: string, { organizationId, workspaceId }: KeyScope): Promise<Roles> {
    const user = await this.users.findOneBy({ organizationId, id });
    const member =
      workspaceId === null ? null : await this.members.findOneBy({ organizationId, workspaceId, userId: id });
    return { organization: user?.role ?? 'member', workspace: member?.role ?? null };
  }
}

function inWords({ organization, workspace }: Roles): string {
  const isOfOrganization =
    rankOf({ organization, workspace: null }) > rankOf({ organization: 'member', workspace });
  const role = isOfOrganization ? organization : (workspace ?? organization);
  return /^[ao]/.test(role) ? `an ${role}` : `a ${role}`;
}
