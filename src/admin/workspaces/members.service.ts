import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { Tenant } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import { Organization } from '../tenancy/organization.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { KeyRevocationService } from '../api-keys/key-revocation.service.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from '../users/people.service.js';
import { MemberDto, type MemberDetails } from './member.dto.js';

export interface MemberFilters {
  readonly role?: WorkspaceRole | undefined;
  /** Normalized. */
  readonly email?: string | undefined;
}

interface NewMember {
  readonly id: string;
  readonly role: WorkspaceRole;
}

/** The members of a workspace and their roles. */
@Injectable()
export class MembersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
    @InjectRepository(User) private readonly usersRepository: Repository<User>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly people: PeopleService,
    private readonly revocation: KeyRevocationService,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** Newest first. */
  async list(
    { organizationId, workspaceId }: Tenant,
    { role, email }: MemberFilters,
    { skip, take }: Page,
  ): Promise<[MemberDetails[], number]> {
    const ofEmail = email === undefined ? undefined : await this.users({ organizationId, email });
    const [members, total] = await this.members.findAndCount({
      where: {
        organizationId,
        workspaceId,
        ...(role && { role }),
        ...(ofEmail && { userId: In(ofEmail.map(({ id }) => id)) }),
      },
      order: { createdAt: 'DESC', userId: 'DESC' },
      skip,
      take,
    });
    if (members.length === 0) return [[], total];
    const id = In(members.map(({ userId }) => userId));
    const users = new Map(
      (ofEmail ?? (await this.users({ organizationId, id }))).map((user) => [user.id, user]),
    );
    const switches = await this.switchesOf(organizationId);
    // A user who left in the meantime has no membership any more.
    const shown = members.flatMap((member) => {
      const user = users.get(member.userId);
      return user ? [{ member, user, switches }] : [];
    });
    return [shown, total];
  }

  async get(tenant: Tenant, userId: string): Promise<MemberDetails> {
    return this.find(tenant, userId);
  }

  async add(caller: Principal, tenant: Tenant, members: readonly NewMember[]): Promise<void> {
    await this.enter(caller, tenant, members);
    this.audit.note({
      targetId: tenant.workspaceId,
      workspaceId: tenant.workspaceId,
      after: { users: members.map(({ id, role }) => ({ id, role })) },
    });
  }

  /** Users must belong to the organization. Refuses with `conflict` when one is already a member. */
  async enter(
    caller: Principal,
    { organizationId, workspaceId }: Tenant,
    members: readonly NewMember[],
  ): Promise<void> {
    await this.people.checkGivesInWorkspace(
      caller,
      members.map(({ role }) => role),
    );
    const rows = members.map(({ id, role }) => ({
      organizationId,
      workspaceId,
      userId: id.toLowerCase(),
      role,
    }));
    const ids = rows.map(({ userId }) => userId);
    // The users found here cannot be removed before the commit.
    const known = await this.usersRepository.find({
      where: { organizationId, id: In(ids) },
      lock: { mode: 'for_key_share' },
    });
    if (known.length < ids.length) throw new AppError('not_found', { resource: 'user' });
    if ((await this.unitOfWork.insertUnlessTaken(WorkspaceMember, rows)) < rows.length)
      throw new AppError('conflict', {
        detail: 'One of these users is already a member of the workspace. Change their role instead.',
      });
    for (const id of ids) await this.changes.publish({ resource: 'user', id });
  }

  async update(caller: Principal, tenant: Tenant, userId: string, role: WorkspaceRole): Promise<void> {
    await this.people.checkGivesInWorkspace(caller, [role]);
    const membership = await this.find(tenant, userId, true);
    const { member, user } = membership;
    const before = MemberDto.from(membership);
    member.role = role;
    const saved = await this.members.save(member);
    this.noteChange(user, tenant, before, MemberDto.from({ ...membership, member: saved }));
    await this.changes.publish({ resource: 'user', id: user.id });
  }

  /** The user's own keys of this workspace are revoked with the membership. */
  async remove(tenant: Tenant, userId: string): Promise<void> {
    const membership = await this.find(tenant, userId, true);
    const { member, user } = membership;
    this.noteChange(user, tenant, MemberDto.from(membership));
    await this.revocation.revoke({ ...tenant, userId: user.id });
    await this.members.delete({ workspaceId: member.workspaceId, userId: member.userId });
    await this.changes.publish({ resource: 'user', id: user.id });
  }

  private async find(
    { organizationId, workspaceId }: Tenant,
    id: string,
    lock = false,
  ): Promise<MemberDetails> {
    const userId = isUuid(id) ? id.toLowerCase() : null;
    const member =
      userId === null
        ? null
        : await this.members.findOne({
            where: { organizationId, workspaceId, userId },
            ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
          });
    if (!member) throw new AppError('not_found', { resource: 'member' });
    const user = await this.usersRepository.findOneByOrFail({ id: member.userId });
    return { member, user, switches: await this.switchesOf(organizationId) };
  }

  private users(where: FindOptionsWhere<User>): Promise<User[]> {
    return this.usersRepository.findBy(where);
  }

  private async switchesOf(id: string): Promise<PolicyFlags | null> {
    const { settings } = await this.organizations.findOneByOrFail({ id });
    return settings.security_settings ?? null;
  }

  private noteChange({ id }: User, { workspaceId }: Tenant, before: MemberDto, after?: MemberDto): void {
    this.audit.note({ targetId: id, workspaceId, before, ...(after ? { after } : {}) });
  }
}
