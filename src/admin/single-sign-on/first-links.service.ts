import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import type { Repository } from 'typeorm';
import { AppError } from '../../common/errors/app-error.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { UserIdentity } from '../sign-in-policy/identity-provider.entity.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { UserCredentialsService } from '../sign-in/user-credentials.service.js';
import type { User } from '../tenancy/user.entity.js';
import { PeopleService } from '../users/people.service.js';
import { directoryActor } from './directory-actor.js';
import { type DirectoryPerson, SignOnPlans } from '../openid-connect/sign-on-plans.service.js';

/** An account at a saved provider. */
interface SavedAccount extends DirectoryPerson {
  readonly providerId: string;
}

/**
 * The first sign-in of an existing user with a provider. Whoever had the invite may have set a password, or added passkeys, without having
 * the address; the provider has verified it. So these credentials are removed, unless the browser proves that the user has them, too: by a
 * session. Owners keep theirs: no invite makes an owner, and they sign in when the provider is unavailable.
 */
@Injectable()
export class FirstLinksService {
  constructor(
    @InjectRepository(UserIdentity) private readonly identities: Repository<UserIdentity>,
    private readonly unitOfWork: UnitOfWork,
    private readonly plans: SignOnPlans,
    private readonly people: PeopleService,
    private readonly credentials: UserCredentialsService,
    private readonly sessions: SessionsService,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * A unit of work of its own: the removal has its own audit record. Does nothing for a user who is new, linked already, or refused; the
   * sign-in then says why.
   */
  async link(account: SavedAccount, request: FastifyRequest): Promise<void> {
    if (!(await this.userToLink(account))) return;
    const { organizationId } = account;
    await this.unitOfWork.runFor({ organizationId, isReading: false }, async () => {
      await this.people.lockMemberships(organizationId);
      const user = await this.userToLink(account);
      if (user) await this.replaceCredentials(user, account, request);
    });
  }

  private async userToLink(account: SavedAccount): Promise<User | null> {
    try {
      const { user, isLinked } = await this.plans.of(account, await this.plans.find(account));
      return isLinked ? null : user;
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  private async replaceCredentials(
    user: User,
    { providerId, organizationId, subject }: SavedAccount,
    request: FastifyRequest,
  ): Promise<void> {
    const isProved = await this.sessions.isPresented(request.headers.cookie, user);
    if (user.role === 'owner' || isProved) return;
    await this.identities.insert({ providerId, organizationId, subject, userId: user.id });
    if (!(await this.credentials.removeAllOf(user))) return;
    const caller = directoryActor(organizationId, user.email, user.id);
    const notes = { action: 'sign_in_methods.delete', targetId: user.id, workspaceId: null } as const;
    await this.audit.recordApart(request, caller, notes);
  }
}
