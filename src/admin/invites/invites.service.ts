import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, LessThanOrEqual, MoreThan, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { INVITE_LASTS_MS } from '../../common/contracts/invite-link.js';
import { InviteWorkspace } from './invite-workspace.entity.js';
import { Invite, type InvitedRole, type InviteStatus } from '../tenancy/invite.entity.js';
import { User } from '../tenancy/user.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { UserKeysService } from '../api-keys/user-keys.service.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from '../users/people.service.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { type CreateInviteDto, InviteDto, type InviteWithWorkspaces, statusOf } from './invite.dto.js';
import { InviteDelivery } from './invite-delivery.js';
import { fieldError } from '../../common/errors/field-errors.js';

export interface InviteFilters {
  readonly role?: InvitedRole | undefined;
  /** Normalized. */
  readonly email?: string | undefined;
  readonly status?: InviteStatus | undefined;
}

/** An invite with its link; null when a mail delivers the link. */
export interface DeliveredInvite {
  readonly invite: Invite;
  readonly link: string | null;
}

@Injectable()
export class InvitesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(InviteWorkspace) private readonly inviteWorkspaces: Repository<InviteWorkspace>,
    @InjectRepository(Invite) private readonly invites: Repository<Invite>,
    private readonly people: PeopleService,
    private readonly workspaces: WorkspaceFinder,
    private readonly userKeys: UserKeysService,
    private readonly delivery: InviteDelivery,
    private readonly audit: AuditTrail,
  ) {}

  async create(caller: Principal, dto: CreateInviteDto): Promise<DeliveredInvite> {
    const { organizationId } = caller;
    await this.people.lockMemberships(organizationId);
    const actor = await this.people.actorWhoGives(caller, dto.role);
    const keyScopes = await this.keyScopesOf(caller, dto);
    const workspaces = await this.workspacesOf(caller, dto);
    const email = normalizeEmail(dto.email) ?? '';
    if (await this.users.existsBy({ organizationId, email }))
      throw new AppError('conflict', { detail: `${email} is already in the organization.` });
    const invite = await this.insert({
      id: uuidV7(Date.now()),
      organizationId,
      email,
      role: dto.role,
      keyScopes,
      invitedBy: actor.id,
      expiresAt: inSeventyTwoHours(),
    });
    for (const [workspaceId, role] of workspaces)
      await this.inviteWorkspaces.insert({ inviteId: invite.id, organizationId, workspaceId, role });
    this.audit.note({
      targetId: invite.id,
      workspaceId: null,
      after: InviteDto.from(await this.shown(invite)),
    });
    return { invite, link: await this.delivery.deliver(invite) };
  }

  /** Newest first. */
  async list(
    { organizationId }: Principal,
    { role, email, status }: InviteFilters,
    { skip, take }: Page,
  ): Promise<[InviteWithWorkspaces[], number]> {
    const own = { organizationId, ...(role && { role }), ...(email && { email }) };
    const [invites, total] = await this.invites.findAndCount({
      where: withStatus(status).map((which) => ({ ...own, ...which })),
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
    return [await this.withWorkspaces(invites), total];
  }

  async get({ organizationId }: Principal, id: string): Promise<InviteWithWorkspaces> {
    return this.shown(await this.find(organizationId, id));
  }

  async cancel({ organizationId }: Principal, id: string): Promise<void> {
    const invite = await this.find(organizationId, id, true);
    if (invite.status === 'accepted')
      throw new AppError('conflict', { detail: 'This invite was accepted. Delete the user instead.' });
    await this.save(invite, { status: 'cancelled' });
  }

  /** Reopens the invite for 72 hours on the authority of its new sender; the previous link becomes void. */
  async resend(caller: Principal, id: string): Promise<DeliveredInvite> {
    await this.people.lockMemberships(caller.organizationId);
    const invite = await this.find(caller.organizationId, id, true);
    const actor = await this.people.actorWhoGives(caller, invite.role);
    const { workspaces } = await this.shown(invite);
    await this.people.checkGivesInWorkspace(
      caller,
      workspaces.map(({ role }) => role),
    );
    if (invite.keyScopes !== null) await this.userKeys.promise(caller, invite.keyScopes);
    const status = statusOf(invite);
    if (status === 'accepted' || status === 'cancelled')
      throw new AppError('conflict', { detail: `This invite is ${status}. Create another one.` });
    if (invite.status === 'expired') await this.checkNoOther(invite);
    await this.save(invite, { status: 'pending', invitedBy: actor.id, expiresAt: inSeventyTwoHours() });
    return { invite, link: await this.delivery.deliver(invite) };
  }

  private async keyScopesOf(caller: Principal, dto: CreateInviteDto): Promise<string[] | null> {
    const { workspaces, workspace_api_key_details: key } = dto;
    if (key === undefined) return null;
    if (workspaces.length > 0) return this.userKeys.promise(caller, key.scopes);
    throw fieldError('workspace_api_key_details', 'needs at least one of "workspaces": keys belong to one');
  }

  private async workspacesOf(caller: Principal, { workspaces }: CreateInviteDto) {
    const roles = new Map<string, InviteWorkspace['role']>();
    await this.people.checkGivesInWorkspace(
      caller,
      workspaces.map(({ role }) => role),
    );
    for (const { id, role } of workspaces) roles.set((await this.workspaces.get(caller, id)).id, role);
    if (roles.size < workspaces.length) throw fieldError('workspaces', 'names the same workspace twice');
    return roles;
  }

  /** The unique index determines whether an open invite exists. */
  private async insert(row: Partial<Invite> & Pick<Invite, 'id' | 'organizationId' | 'email'>) {
    const { organizationId, email } = row;
    await this.invites.update(
      { organizationId, email, status: 'pending', expiresAt: LessThanOrEqual(new Date()) },
      { status: 'expired' },
    );
    if ((await this.unitOfWork.insertUnlessTaken(Invite, row)) === 0) throw thereIsOne(email);
    return this.invites.findOneByOrFail({ id: row.id });
  }

  private async checkNoOther({ organizationId, email }: Invite): Promise<void> {
    const another = { organizationId, email, status: 'pending' as const };
    if (await this.invites.existsBy(another)) throw thereIsOne(email);
  }

  private async save(invite: Invite, changed: Partial<Invite>): Promise<void> {
    const shown = await this.shown(invite);
    const before = InviteDto.from(shown);
    await this.invites.save(Object.assign(invite, changed));
    this.audit.note({ targetId: invite.id, workspaceId: null, before, after: InviteDto.from(shown) });
  }

  private async shown(invite: Invite): Promise<InviteWithWorkspaces> {
    const [shown] = await this.withWorkspaces([invite]);
    return shown ?? { invite, workspaces: [] };
  }

  private async withWorkspaces(invites: readonly Invite[]): Promise<InviteWithWorkspaces[]> {
    const rows = await this.inviteWorkspaces.find({
      where: { inviteId: In(invites.map(({ id }) => id)) },
      order: { workspaceId: 'ASC' },
    });
    return invites.map((invite) => ({
      invite,
      workspaces: rows.filter(({ inviteId }) => inviteId === invite.id),
    }));
  }

  private async find(organizationId: string, id: string, lock = false): Promise<Invite> {
    const invite = isUuid(id)
      ? await this.invites.findOne({
          where: { organizationId, id },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    if (!invite) throw new AppError('not_found', { resource: 'invite' });
    return invite;
  }
}

const inSeventyTwoHours = (): Date => new Date(Date.now() + INVITE_LASTS_MS);

const thereIsOne = (email: string): AppError =>
  new AppError('conflict', { detail: `There is an open invite for ${email}. Send it again or cancel it.` });

/** Conditions for rows that have a status now; any of them suffices. */
function withStatus(status: InviteStatus | undefined): FindOptionsWhere<Invite>[] {
  const now = new Date();
  if (status === undefined) return [{}];
  if (status === 'pending') return [{ status, expiresAt: MoreThan(now) }];
  if (status === 'expired') return [{ status }, { status: 'pending', expiresAt: LessThanOrEqual(now) }];
  return [{ status }];
}
