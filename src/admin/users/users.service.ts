import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { ChangePublisher } from '../../common/changes/change.js';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { PeopleService } from './people.service.js';
import { checkMayActOn } from './ranks.js';
import { type UpdateUserDto, UserDto, type UserWithWorkspaces } from './user.dto.js';

export interface UserFilters {
  readonly role?: OrganizationRole | undefined;
  /** Normalized. */
  readonly email?: string | undefined;
}

@Injectable()
export class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
    private readonly people: PeopleService,
    private readonly sessions: SessionsService,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** Newest first. */
  async list(
    { organizationId }: Principal,
    { role, email }: UserFilters,
    { skip, take }: Page,
  ): Promise<[UserWithWorkspaces[], number]> {
    const [users, total] = await this.users.findAndCount({
      where: { organizationId, ...(role && { role }), ...(email && { email }) },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
    return [await this.withWorkspaces(organizationId, users), total];
  }

  async get({ organizationId }: Principal, id: string): Promise<UserWithWorkspaces> {
    return this.shown(await this.people.find(organizationId, id));
  }

  async update(caller: Principal, id: string, dto: UpdateUserDto): Promise<void> {
    await this.people.lockMemberships(caller.organizationId);
    const user = await this.people.find(caller.organizationId, id);
    const actor = await this.people.actor(caller);
    checkMayActOn(actor, user);
    if (dto.role !== undefined) await this.people.actorWhoGives(caller, dto.role);
    if (losesOwnership(user, dto)) await this.people.ownerBesides(user);
    const [before, after] = await this.save(user, {
      ...(dto.role !== undefined && { role: dto.role }),
      ...(dto.status !== undefined && { status: dto.status }),
      ...(dto.first_name !== undefined && { firstName: dto.first_name }),
      ...(dto.last_name !== undefined && { lastName: dto.last_name }),
    });
    await this.people.cancelInvitesBeyond(user);
    this.audit.note({ targetId: user.id, before, after });
  }

  /** Makes a user an owner. The acting user must be an owner, and becomes an admin when stepping down. */
  async transferOwnership(caller: Principal, id: string, stepsDown: boolean): Promise<void> {
    await this.people.lockMemberships(caller.organizationId);
    const user = await this.people.find(caller.organizationId, id);
    const actor = await this.people.ownerWithAllScopes(caller, 'only an owner can transfer ownership');
    if (actor.id === user.id)
      throw new AppError('conflict', { detail: 'Ownership can be transferred only to another user.' });
    if (user.status !== 'active')
      throw new AppError('conflict', {
        detail: 'A deactivated user cannot become an owner. Reactivate them first.',
      });
    const [before, after] = await this.save(user, { role: 'owner' });
    if (stepsDown) await this.save(actor, { role: 'admin' });
    this.audit.note({
      targetId: user.id,
      before,
      after: stepsDown ? Object.assign(after, { stepped_down: actor.id }) : after,
    });
  }

  /** Returns the user before and after. */
  private async save(user: User, changed: Partial<User>): Promise<[UserDto, UserDto]> {
    const before = UserDto.from(await this.shown(user));
    const saved = await this.users.save(Object.assign(user, changed));
    if (before.role !== saved.role || before.status !== saved.status) await this.sessions.endAllOf(user);
    await this.changes.publish({ resource: 'user', id: user.id });
    return [before, UserDto.from(await this.shown(saved))];
  }

  private async shown(user: User): Promise<UserWithWorkspaces> {
    const [shown] = await this.withWorkspaces(user.organizationId, [user]);
    return shown ?? { user, memberships: [] };
  }

  private async withWorkspaces(
    organizationId: string,
    users: readonly User[],
  ): Promise<UserWithWorkspaces[]> {
    const members = await this.members.find({
      where: { organizationId, userId: In(users.map(({ id }) => id)) },
      order: { createdAt: 'ASC', workspaceId: 'ASC' },
    });
    return users.map((user) => ({
      user,
      memberships: members.filter(({ userId }) => userId === user.id),
    }));
  }
}

function losesOwnership(user: User, { role, status }: UpdateUserDto): boolean {
  return user.role === 'owner' && (role !== undefined || status === 'deactivated');
}
