import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { FastifyRequest } from 'fastify';
import type { GivenRoles } from '../../auth/tokens/just-in-time-user.js';
import { ChangePublisher } from '../../common/changes/change.js';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { KeyRevocationService } from '../api-keys/key-revocation.service.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { PeopleService } from './people.service.js';
import { UserDto } from './user.dto.js';

/** A user that a directory has authenticated. */
export interface DirectoryUser extends GivenRoles {
  readonly organizationId: string;
  /** Normalized. */
  readonly email: string;
  readonly firstName?: string | null;
  readonly lastName?: string | null;
}

/** Users of a directory: created at their first sign-in, with the roles of their groups. */
@Injectable()
export class DirectoryUsersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    private readonly people: PeopleService,
    private readonly revocation: KeyRevocationService,
    private readonly sessions: SessionsService,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** Null when the address is taken. Missing workspaces are left out. */
  async create({ workspaces, ...fields }: DirectoryUser, request: FastifyRequest): Promise<User | null> {
    const id = uuidV7(Date.now());
    if ((await this.unitOfWork.insertUnlessTaken(User, { id, ...fields })) === 0) return null;
    const user = await this.users.findOneByOrFail({ id });
    for (const [workspaceId, role] of await this.existingWorkspaces(user.organizationId, workspaces))
      await this.enter(user, workspaceId, role);
    await this.record('organisation_users.create', user, null, request);
    await this.changes.publish({ resource: 'user', id });
    return user;
  }

  /**
   * Gives a user these roles, and removes those that the directory removed, only in the workspaces that it governs. Ownership is neither
   * given nor removed. A changed role in the organization ends the user's sessions.
   */
  async follow(
    user: User,
    { role, workspaces }: GivenRoles,
    governed: ReadonlySet<string>,
    request: FastifyRequest,
  ): Promise<void> {
    const before = await this.shown(user);
    const isChanged = [await this.setRole(user, role), await this.setWorkspaces(user, workspaces, governed)];
    if (!isChanged.includes(true)) return;
    await this.record('organisation_users.update', user, before, request);
    await this.changes.publish({ resource: 'user', id: user.id });
  }

  private async setRole(user: User, role: GivenRoles['role']): Promise<boolean> {
    if (user.role === 'owner' || user.role === role) return false;
    await this.users.update({ id: user.id }, { role });
    user.role = role;
    await this.sessions.endAllOf(user);
    await this.people.cancelInvitesBeyond(user);
    return true;
  }

  private async setWorkspaces(
    user: User,
    roles: ReadonlyMap<string, WorkspaceRole>,
    governed: ReadonlySet<string>,
  ): Promise<boolean> {
    const { id: userId, organizationId } = user;
    const workspaceRoles = await this.existingWorkspaces(organizationId, roles);
    const ruled = await this.existingWorkspaces(
      organizationId,
      new Map([...governed].map((name) => [name, 'member'])),
    );
    const members = await this.members.findBy({ organizationId, userId });
    const held = new Map(members.map((member) => [member.workspaceId, member.role]));
    let isChanged = false;
    for (const workspaceId of ruled.keys()) {
      const role = workspaceRoles.get(workspaceId);
      if (role === held.get(workspaceId)) continue;
      isChanged = true;
      if (role === undefined) await this.leave(user, workspaceId);
      else if (held.has(workspaceId)) await this.members.update({ workspaceId, userId }, { role });
      else await this.enter(user, workspaceId, role);
    }
    return isChanged;
  }

  private async enter(
    { id: userId, organizationId }: User,
    workspaceId: string,
    role: WorkspaceRole,
  ): Promise<void> {
    await this.members.insert({ workspaceId, userId, organizationId, role });
  }

  /** The user's own keys of this workspace are revoked with the membership. */
  private async leave({ id: userId, organizationId }: User, workspaceId: string): Promise<void> {
    await this.revocation.revoke({ organizationId, workspaceId, userId });
    await this.members.delete({ workspaceId, userId });
  }

  /** The existing ones of these workspaces by id, locked against deletion until the member is added. */
  private async existingWorkspaces(
    organizationId: string,
    named: ReadonlyMap<string, WorkspaceRole>,
  ): Promise<ReadonlyMap<string, WorkspaceRole>> {
    const found = new Map<string, WorkspaceRole>();
    for (const [name, role] of named) {
      const which = isUuid(name) ? { id: name.toLowerCase() } : { slug: name };
      const workspace = await this.workspaces.findOne({
        where: { organizationId, ...which },
        lock: { mode: 'for_key_share' },
      });
      if (workspace && !found.has(workspace.id)) found.set(workspace.id, role);
    }
    return found;
  }

  private async shown(user: User): Promise<UserDto> {
    const { id: userId, organizationId } = user;
    const members = await this.members.find({
      where: { organizationId, userId },
      order: { createdAt: 'ASC', workspaceId: 'ASC' },
    });
    return UserDto.from({ user, memberships: members });
  }

  private async record(
    action: 'organisation_users.create' | 'organisation_users.update',
    user: User,
    before: UserDto | null,
    request: FastifyRequest,
  ): Promise<void> {
    const { id, organizationId, email } = user;
    const actor = {
      ...({ kind: 'person', apiKeyId: null, name: email, organizationId, workspaceId: null } as const),
      ...{ userId: id, authorityId: id, scopes: new Set<never>(), policy: null },
    };
    const after = await this.shown(user);
    const notes = { action, targetId: id, workspaceId: null, ...(before ? { before } : {}), after };
    await this.audit.recordApart(request, actor, notes);
  }
}
