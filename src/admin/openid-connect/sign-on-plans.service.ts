import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { GivenRoles } from '../../auth/tokens/just-in-time-user.js';
import { UserIdentity } from '../sign-in-policy/identity-provider.entity.js';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { type DirectoryRules, rolesIn, verifiedEmailIn } from './directory-rules.js';
import type { Claims } from '../../auth/tokens/compact-token.js';

/** A user as described by a provider. */
export interface DirectoryPerson {
  readonly organizationId: string;
  /** Null for a provider that is not saved yet. */
  readonly providerId: string | null;
  readonly domains: readonly string[];
  readonly rules: DirectoryRules;
  readonly subject: string;
  readonly claims: Claims;
}

/** The matching user here. */
export interface KnownPerson {
  /** Normalized. */
  readonly email: string;
  /** Null if there is no user yet. */
  readonly user: User | null;
  /** Whether the user is linked to this provider account. */
  readonly isLinked: boolean;
}

/** The effect of a sign-in: `roles` are null for a user who keeps their roles. */
export interface SignOnPlan extends KnownPerson {
  readonly roles: GivenRoles | null;
}

/** Decides who may sign in from a provider, as which user, and with which roles. Read-only. */
@Injectable()
export class SignOnPlans {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectRepository(UserIdentity) private readonly identities: Repository<UserIdentity>,
  ) {}

  /** A user is found by the linked account, or else by an email address that the provider has verified. */
  async find(person: DirectoryPerson): Promise<KnownPerson> {
    const linked = await this.linkedTo(person);
    const email = linked?.email ?? verifiedEmailIn(person.claims);
    if (email === null) throw new AppError('sso_email_unverified');
    const { organizationId } = person;
    const user = linked ?? (await this.users.findOneBy({ organizationId, email }));
    return { email, user, isLinked: linked !== null };
  }

  async of(person: DirectoryPerson, known: KnownPerson): Promise<SignOnPlan> {
    const { email, user, isLinked } = known;
    checkDomain(person.domains, email);
    if (user) await this.checkUser(user, person, isLinked);
    else if (!person.rules.createsUsers) throw new AppError('sso_user_unknown');
    const takesRoles = !user || person.rules.rolesFollowDirectory;
    return { ...known, roles: takesRoles ? rolesIn(person.claims, person.rules) : null };
  }

  private async linkedTo({ providerId, subject, organizationId }: DirectoryPerson): Promise<User | null> {
    const identity = providerId === null ? null : await this.identities.findOneBy({ providerId, subject });
    return identity && this.users.findOneBy({ organizationId, id: identity.userId });
  }

  /** An address that was reassigned to another account at the provider does not give access to the user. */
  private async checkUser(user: User, { providerId }: DirectoryPerson, isLinked: boolean): Promise<void> {
    if (user.status !== 'active') throw new AppError('sso_user_deactivated');
    if (isLinked || providerId === null) return;
    if (await this.identities.findOneBy({ providerId, userId: user.id }))
      throw new AppError('sso_account_mismatch');
  }
}

function checkDomain(domains: readonly string[], email: string): void {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (domains.length > 0 && !domains.includes(domain)) throw new AppError('sso_domain_not_allowed');
}
