import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Not, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { missingGrant } from '../../auth/permissions/missing-grant.js';
import { type Roles, scopesOfRoles } from '../../auth/permissions/roles.js';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import { Invite, type InvitedRole } from '../tenancy/invite.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { checkMayGrant, isAbove } from './ranks.js';

const INVITED_ROLES: readonly InvitedRole[] = ['admin', 'member'];

const mayInvite = ({ role: own, status }: User, role: OrganizationRole): boolean =>
  status === 'active' && own !== 'member' && !isAbove(role, own);

/** The users of an organization, for those who manage them. */
@Injectable()
export class PeopleService {
  constructor(
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(Invite) private readonly invites: Repository<Invite>,
  ) {}

  /**
   * Until the end of the transaction no other transaction changes roles in this organization, so that roles stay as they were read: two
   * owners cannot demote each other at the same moment.
   */
  lockMemberships(organizationId: string): Promise<Organization> {
    return this.organizations.findOneOrFail({
      where: { id: organizationId },
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** Another organization's user is "not found", like one that never existed. */
  async find(organizationId: string, id: string): Promise<User> {
    const user = isUuid(id) ? await this.users.findOneBy({ organizationId, id: id.toLowerCase() }) : null;
    if (!user) throw new AppError('not_found', { resource: 'user' });
    return user;
  }

  /** The user on whose authority a caller acts, with the current role and not the one at identification. */
  async actor({ organizationId, authorityId }: Principal): Promise<User> {
    const actor =
      authorityId === null
        ? null
        : await this.users.findOneBy({ organizationId, id: authorityId, status: 'active' });
    if (!actor)
      throw new AppError('forbidden', { detail: 'the user that it acts for was deleted or deactivated' });
    return actor;
  }

  /** The actor, who must be an owner. `refusal`: the detail of the error for others. */
  async owner(caller: Principal, refusal: string): Promise<User> {
    const actor = await this.actor(caller);
    if (actor.role !== 'owner') throw new AppError('forbidden', { detail: refusal });
    return actor;
  }

  /**
   * For settings that let whoever controls them act as any user: an owner, and none who presents a key or a token with fewer scopes. One
   * scope would otherwise give all of them.
   */
  async ownerWithAllScopes(caller: Principal, refusal: string): Promise<User> {
    const actor = await this.owner(caller, refusal);
    const missing = await this.missingScope(caller, { organization: actor.role, workspace: null });
    if (missing !== undefined)
      throw new AppError('forbidden', {
        detail: `${refusal}, with a key or token that has all scopes of an owner; the scope "${missing}" is missing`,
      });
    return actor;
  }

  /** A user who controls where users sign in can sign in as any of them, so only owners can. */
  async checkMayChangeSignIn(caller: Principal): Promise<void> {
    await this.ownerWithAllScopes(caller, 'only an owner can change how users sign in');
  }

  /** The actor, for granting a role. A key or token with fewer scopes than the role would give more than it has. */
  async actorWhoGives(caller: Principal, role: OrganizationRole): Promise<User> {
    const actor = await this.actor(caller);
    checkMayGrant(actor, role);
    await this.checkScopes(caller, role, { organization: role, workspace: null });
    return actor;
  }

  /** The same rule for roles in a workspace. */
  async checkGivesInWorkspace(caller: Principal, roles: Iterable<WorkspaceRole>): Promise<void> {
    for (const workspace of new Set(roles))
      await this.checkScopes(caller, `${workspace} in a workspace`, { organization: 'member', workspace });
  }

  private async checkScopes(caller: Principal, role: string, roles: Roles): Promise<void> {
    const missing = await this.missingScope(caller, roles);
    if (missing === undefined) return;
    throw new AppError('forbidden', {
      detail: `giving the role ${role} needs a key or token with all of its scopes; the scope "${missing}" is missing`,
    });
  }

  private async missingScope(caller: Principal, roles: Roles): Promise<string | undefined> {
    const { settings } = await this.organizations.findOneByOrFail({ id: caller.organizationId });
    const scopes = scopesOfRoles(roles, settings.security_settings ?? null);
    return missingGrant(caller, scopes);
  }

  /** Whether a user may still grant the role of an invite they sent. */
  async mayStillGive({ organizationId, id }: Pick<User, 'organizationId' | 'id'>, role: OrganizationRole) {
    const user = await this.users.findOneBy({ organizationId, id, status: 'active' });
    return user !== null && mayInvite(user, role);
  }

  /** Cancels the open invites that a user, after a change of role or status, can no longer grant. */
  async cancelInvitesBeyond(user: User): Promise<void> {
    const lost = INVITED_ROLES.filter((role) => !mayInvite(user, role));
    if (lost.length === 0) return;
    await this.invites.update(
      { organizationId: user.organizationId, invitedBy: user.id, status: 'pending', role: In(lost) },
      { status: 'cancelled' },
    );
  }

  /** The longest-standing other owner. Refuses with `last_owner` when there is none. */
  async ownerBesides({ organizationId, id }: User): Promise<User> {
    const owner = await this.users.findOne({
      where: { organizationId, id: Not(id), role: 'owner', status: 'active' },
      order: { createdAt: 'ASC', id: 'ASC' },
    });
    if (!owner) throw new AppError('last_owner');
    return owner;
  }
}
