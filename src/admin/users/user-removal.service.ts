import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { Invite } from '../tenancy/invite.entity.js';
import { User } from '../tenancy/user.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { withCount, listInWords } from '../dto-fields/counted.js';
import { KeyRevocationService } from '../api-keys/key-revocation.service.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { ServiceKeyHandover } from './service-key-handover.js';
import { PeopleService } from './people.service.js';
import { checkMayActOn, isAbove } from './ranks.js';
import { UserDto } from './user.dto.js';

/** Removes a user from the organization, with everything that is deleted or transferred with them. */
@Injectable()
export class UserRemovalService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Invite) private readonly invites: Repository<Invite>,
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(WorkspaceMember) private readonly members: Repository<WorkspaceMember>,
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly people: PeopleService,
    private readonly revocation: KeyRevocationService,
    private readonly handover: ServiceKeyHandover,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** `confirmation` must be the user's email address; without it the error lists what would be deleted. */
  async remove(caller: Principal, id: string, confirmation: string | undefined): Promise<void> {
    const { settings } = await this.people.lockMemberships(caller.organizationId);
    const user = await this.people.find(caller.organizationId, id);
    const actor = await this.people.actor(caller);
    checkMayActOn(actor, user);
    const isLeaving = actor.id === user.id;
    const heir = isLeaving || user.role === 'owner' ? await this.heirOf(user, actor) : actor;
    if (confirmation === undefined || normalizeEmail(confirmation) !== user.email)
      throw new AppError('confirmation_required', { detail: await this.whatGoes(user, heir) });
    await this.noteBefore(user);
    await this.removeKeys(user, heir);
    await this.handover.transferKeys(user, heir, settings.security_settings ?? null);
    await this.invites.update(
      { organizationId: user.organizationId, invitedBy: user.id, status: 'pending' },
      { status: 'cancelled' },
    );
    await this.users.delete({ id: user.id });
    await this.changes.publish({ resource: 'user', id: user.id });
  }

  /** An owner can be removed only while there is another. A removed user cannot inherit from themselves. */
  private async heirOf(user: User, actor: User): Promise<User> {
    const owner = await this.people.ownerBesides(user);
    return actor.id === user.id ? owner : actor;
  }

  private async noteBefore(user: User): Promise<void> {
    const { organizationId, id } = user;
    const memberships = await this.members.find({
      where: { organizationId, userId: id },
      order: { createdAt: 'ASC', workspaceId: 'ASC' },
    });
    this.audit.note({ targetId: id, before: UserDto.from({ user, memberships }) });
  }

  private async removeKeys(user: User, heir: User): Promise<void> {
    const { organizationId, id: userId } = user;
    const own = { organizationId, userId };
    await this.revocation.revoke(own);
    await this.revocation.release(own, { userId: null });
    if (!keepsAdminKeys(user, heir))
      await this.revocation.revoke({
        organizationId,
        createdByUserId: userId,
        kind: 'organisation-service',
      });
  }

  /** Whether the user is the author of the rules for signed tokens, which nobody inherits. */
  private async setTokenRules({ organizationId, id }: User): Promise<boolean> {
    const rules: unknown[] = await this.unitOfWork.manager.query(
      'SELECT FROM organization_jwt WHERE organization_id = $1 AND author_id = $2',
      [organizationId, id],
    );
    return rules.length > 0;
  }

  private async whatGoes(user: User, heir: User): Promise<string> {
    const { organizationId, id } = user;
    const made = { organizationId, createdByUserId: id };
    const [own, adminKeys, serviceKeys, memberships, invites] = [
      await this.apiKeys.countBy({ organizationId, userId: id }),
      await this.apiKeys.countBy({ ...made, kind: 'organisation-service' }),
      await this.apiKeys.countBy({ ...made, kind: 'workspace-service' }),
      await this.members.countBy({ organizationId, userId: id }),
      await this.invites.countBy({ organizationId, invitedBy: id, status: 'pending' }),
    ];
    const isKept = keepsAdminKeys(user, heir);
    const revoked = [
      withCount(own, 'personal API key'),
      ...(isKept ? [] : [withCount(adminKeys, 'admin key')]),
    ];
    const handedOver = [
      ...(isKept ? [withCount(adminKeys, 'admin key')] : []),
      withCount(serviceKeys, 'service key'),
    ];
    const removed = [withCount(memberships, 'workspace membership'), withCount(invites, 'pending invite')];
    const ended = (await this.setTokenRules(user)) ? ['the acceptance of signed tokens'] : [];
    const effects = [
      ['revokes', revoked, ''],
      ['removes', removed, ''],
      ...(ended.length > 0 ? [['ends', ended, ''] as const] : []),
      ['and hands', handedOver, ` to ${heir.email}`],
    ] as const;
    return (
      `Deleting ${user.email} ${effects.map(([verb, things, end]) => `${verb} ${listInWords(things)}${end}`).join(', ')}. ` +
      `To confirm, repeat the request with {"email":"${user.email}"} or "?confirm=${user.email}".`
    );
  }
}

/** The removed user may have a copy of an admin key's secret, so it must not act on a higher authority than before. */
function keepsAdminKeys(user: User, heir: User): boolean {
  return user.status === 'active' && !isAbove(heir.role, user.role);
}
