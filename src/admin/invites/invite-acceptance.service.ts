import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type Repository } from 'typeorm';
import { InviteTokens, inviteIdOf } from '../../common/crypto/invite-tokens.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { Secret } from '../../common/settings/secret.js';
import { InviteWorkspace } from './invite-workspace.entity.js';
import { Invite } from '../tenancy/invite.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { UserKeysService } from '../api-keys/user-keys.service.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { PeopleService } from '../users/people.service.js';
import { type AcceptInviteDto, AcceptedInviteDto } from './accept-invite.dto.js';
import { InviteDto, statusOf } from './invite.dto.js';

type FirstKey = AcceptedInviteDto['api_keys'][number];

/** Creates a user from an invite. A caller with the token is treated as the invited user. */
@Injectable()
export class InviteAcceptanceService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Invite) private readonly invites: Repository<Invite>,
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
    @InjectRepository(InviteWorkspace) private readonly inviteWorkspaces: Repository<InviteWorkspace>,
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    private readonly tokens: InviteTokens,
    private readonly people: PeopleService,
    private readonly passwords: PasswordsService,
    private readonly userKeys: UserKeysService,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Refuses with `not_found` a token without an invite, and with `invite_gone` one that is used, cancelled or expired, or whose sender can
   * no longer invite. Of two concurrent acceptances, one succeeds.
   */
  async accept(dto: AcceptInviteDto): Promise<AcceptedInviteDto> {
    const token = new Secret(dto.token);
    const { organizationId, email } = await this.open(token, false);
    // Hashing is slow, so it runs before any lock is taken.
    const passwordHash =
      dto.password === undefined
        ? null
        : await this.passwords.hashForNewUser(dto.password, { organizationId, email });
    await this.people.lockMemberships(organizationId);
    const invite = await this.open(token, true);
    if (dto.email !== undefined && normalizeEmail(dto.email) !== invite.email)
      throw new AppError('forbidden', { detail: 'this invite is for another address' });
    if (!(await this.people.mayStillGive({ organizationId, id: invite.invitedBy }, invite.role)))
      throw new AppError('invite_gone');
    const workspaces = await this.workspacesOf(invite);
    const user = await this.enter(invite, workspaces, {
      firstName: dto.first_name,
      lastName: dto.last_name,
    });
    if (passwordHash !== null) await this.passwords.set(user, passwordHash);
    const accepted = { status: 'accepted', acceptedAt: new Date() } as const;
    await this.invites.update({ id: invite.id }, accepted);
    this.identify(invite, user.id);
    this.audit.note({ after: InviteDto.from({ invite: Object.assign(invite, accepted), workspaces }) });
    await this.changes.publish({ resource: 'user', id: user.id });
    return AcceptedInviteDto.from({
      user_id: user.id,
      organisation_id: organizationId,
      email: invite.email,
      api_keys: await this.makeKeys(invite, workspaces, user),
    });
  }

  private async open(token: Secret, lock: boolean): Promise<Invite> {
    const id = inviteIdOf(token);
    const query = this.invites
      .createQueryBuilder('invite')
      .addSelect('invite.tokenHash')
      .where({ id: id ?? '' });
    const invite = id === null ? null : await (lock ? query.setLock('pessimistic_write') : query).getOne();
    if (!invite || !this.tokens.isTokenOf(invite, token, invite.tokenHash))
      throw new AppError('not_found', { resource: 'invite' });
    this.identify(invite, null);
    if (statusOf(invite) !== 'pending') throw new AppError('invite_gone');
    return invite;
  }

  /** For the audit record: the new user, or for a refused attempt the invite that was presented. */
  private identify({ id, organizationId, email }: Invite, userId: string | null): void {
    this.audit.identify({
      kind: 'person',
      apiKeyId: userId === null ? id : null,
      name: email,
      organizationId,
      workspaceId: null,
      userId,
      authorityId: userId,
      scopes: new Set(),
      policy: null,
    });
    this.audit.note({ action: 'invites.accept', targetId: id, workspaceId: null });
  }

  private async enter(
    { organizationId, email, role }: Invite,
    workspaces: readonly InviteWorkspace[],
    person: Pick<User, 'firstName' | 'lastName'>,
  ): Promise<User> {
    const row = { id: uuidV7(Date.now()), organizationId, email, role, ...person };
    if ((await this.unitOfWork.insertUnlessTaken(User, row)) === 0)
      throw new AppError('conflict', { detail: 'This address is already in the organization.' });
    for (const { workspaceId, role: workspaceRole } of workspaces)
      await this.members.insert({ workspaceId, userId: row.id, organizationId, role: workspaceRole });
    return this.users.findOneByOrFail({ id: row.id });
  }

  /** The invited workspaces that still exist, locked against deletion until the member is added. */
  private async workspacesOf({ id: inviteId, organizationId }: Invite): Promise<InviteWorkspace[]> {
    const invited = await this.inviteWorkspaces.findBy({ inviteId });
    const held = await this.workspaces.find({
      where: { organizationId, id: In(invited.map(({ workspaceId }) => workspaceId)) },
      order: { id: 'ASC' },
      lock: { mode: 'for_key_share' },
    });
    return invited.filter(({ workspaceId }) => held.some(({ id }) => id === workspaceId));
  }

  private async makeKeys(
    invite: Invite,
    workspaces: readonly InviteWorkspace[],
    { id: userId, email }: User,
  ): Promise<FirstKey[]> {
    const keys: FirstKey[] = [];
    if (invite.keyScopes === null) return keys;
    for (const { workspaceId } of workspaces) {
      const { id, secret } = await this.userKeys.make({
        organizationId: invite.organizationId,
        workspaceId,
        userId,
        createdByUserId: invite.invitedBy,
        name: `First key of ${email}`.slice(0, 120),
        scopes: invite.keyScopes,
      });
      keys.push({ workspace_id: workspaceId, id, key: secret.reveal() });
    }
    return keys;
  }
}
