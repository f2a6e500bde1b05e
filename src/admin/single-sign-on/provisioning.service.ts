import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import type { Repository } from 'typeorm';
import { accessOf } from '../../auth/permissions/access.js';
import { type IdentityProvider, UserIdentity } from '../sign-in-policy/identity-provider.entity.js';
import type { User } from '../tenancy/user.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { DirectoryUsersService } from '../users/directory-users.service.js';
import { PeopleService } from '../users/people.service.js';
import { directoryActor } from './directory-actor.js';
import { FirstLinksService } from './first-links.service.js';
import { type DirectoryRules, namesIn } from '../openid-connect/directory-rules.js';
import type { DirectoryAnswer } from '../openid-connect/provider-client.service.js';
import { type SignOnPlan, SignOnPlans } from '../openid-connect/sign-on-plans.service.js';

/** A verified response of a provider. */
export interface VerifiedSignOn {
  readonly provider: IdentityProvider;
  readonly answer: DirectoryAnswer;
}

/** Creates, links and updates users from verified provider responses. */
@Injectable()
export class ProvisioningService {
  constructor(
    @InjectRepository(UserIdentity) private readonly identities: Repository<UserIdentity>,
    private readonly unitOfWork: UnitOfWork,
    private readonly plans: SignOnPlans,
    private readonly people: PeopleService,
    private readonly directory: DirectoryUsersService,
    private readonly links: FirstLinksService,
  ) {}

  /**
   * The user of a response: created, linked, and with the directory's roles if the organization uses them. A unit of work before that of
   * the session, because changes to a user have a separate audit record.
   */
  async admit({ provider, answer }: VerifiedSignOn, request: FastifyRequest): Promise<User> {
    const { id: providerId, organizationId, domains } = provider;
    const rules = provider.rules as DirectoryRules;
    const person = { ...answer, organizationId, providerId, domains, rules };
    await this.links.link(person, request);
    return this.unitOfWork.runFor({ organizationId, isReading: false }, async () => {
      await this.people.lockMemberships(organizationId);
      const known = await this.plans.find(person);
      const caller = directoryActor(organizationId, known.email, known.user?.id ?? null);
      Object.assign(accessOf(request), { caller, action: 'sessions.create' });
      const plan = await this.plans.of(person, known);
      const user = await this.userOf(plan, { provider, answer }, request);
      accessOf(request).caller = directoryActor(organizationId, user.email, user.id);
      if (!plan.isLinked)
        await this.identities.insert({
          ...{ providerId, organizationId, subject: answer.subject, userId: user.id },
        });
      return user;
    });
  }

  private async userOf(
    { user, email, roles }: SignOnPlan,
    { provider: { organizationId, rules }, answer }: VerifiedSignOn,
    request: FastifyRequest,
  ): Promise<User> {
    if (user && roles) await this.directory.follow(user, roles, governedBy(rules as DirectoryRules), request);
    if (user) return user;
    const names = namesIn(answer.claims);
    const made =
      roles && (await this.directory.create({ organizationId, email, ...names, ...roles }, request));
    if (!made) throw new AppError('sso_user_unknown');
    return made;
  }
}

/** The workspaces governed by the directory: those in its mappings. */
const governedBy = ({ roleMappings }: DirectoryRules): ReadonlySet<string> =>
  new Set(roleMappings.flatMap(({ workspace }) => workspace ?? []));
