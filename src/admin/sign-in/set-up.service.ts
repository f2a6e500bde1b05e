import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { ChangePublisher } from '../../common/changes/change.js';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import { isUniqueViolation } from '../../database/sessions/database-errors.js';
import { SignInLink } from '../passwords/sign-in-link.entity.js';
import { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import type { SignInOrigin } from '../sessions/sessions.service.js';
import { SecondFactorsService } from '../second-factors/second-factors.service.js';
import { type OpenedSignIn, signingIn, SignInService } from './sign-in.service.js';

interface SetUp {
  readonly token: string;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly password: string;
  readonly code?: string | undefined;
}

@Injectable()
export class SignInLinks {
  constructor(
    @InjectRepository(SignInLink) private readonly links: Repository<SignInLink>,
    private readonly tokens: OpaqueTokens,
  ) {}

  find(token: string): Promise<SignInLink | null> {
    const tokenHash = this.tokens.hashOf('sign-in link', token);
    return this.links.findOneBy({ tokenHash, expiresAt: MoreThan(new Date()) });
  }

  /** False when another request used it first. */
  async use({ id }: SignInLink): Promise<boolean> {
    const { affected } = await this.links.delete({ id });
    return affected === 1;
  }
}

/** Sets the password of a user with a one-use link. */
@Injectable()
export class SetUpService {
  constructor(
    private readonly links: SignInLinks,
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly passwords: PasswordsService,
    private readonly factors: SecondFactorsService,
    private readonly signIn: SignInService,
    private readonly audit: AuditTrail,
    private readonly changes: ChangePublisher,
  ) {}

  /** Refuses with `sign_in_link_gone` a link that is used, expired or unknown. Of two concurrent uses, one succeeds. */
  async use({ token, email, name, password, code }: SetUp, origin: SignInOrigin): Promise<OpenedSignIn> {
    const link = await this.links.find(token);
    const user = link && (await this.users.findOneBy({ id: link.userId, status: 'active' }));
    if (!user) throw new AppError('sign_in_link_gone');
    this.identify(user);
    await this.factors.check(user, code);
    const isFirst = link.purpose === 'set_up';
    const address = isFirst && email !== undefined ? (normalizeEmail(email) ?? email) : user.email;
    // Hashing is slow, so no lock is held meanwhile.
    const hash = await this.passwords.hash(password, address);
    if (!(await this.links.use(link))) throw new AppError('sign_in_link_gone');
    if (isFirst) await this.introduce(user, address, name);
    await this.passwords.set(user, hash);
    this.identify(user);
    await this.changes.publish({ resource: 'user', id: user.id });
    return this.signIn.open(user, 'set_up_link', origin);
  }

  /** For the audit record, including that of an attempt refused from here on. */
  private identify(user: User): void {
    this.audit.identify(signingIn(user), 'passwords.update');
    this.audit.note({ targetId: user.id });
  }

  /** The first owner has no email address before this. */
  private async introduce(user: User, email: string, name: string | undefined): Promise<void> {
    const [firstName = null, ...rest] = name?.trim().split(/\s+/) ?? [];
    const names = name === undefined ? {} : { firstName, lastName: rest.join(' ') || null };
    try {
      await this.users.update({ id: user.id }, { email, ...names });
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw new AppError('conflict', { detail: 'Another user of the organization has this address.' });
    }
    Object.assign(user, { email, ...names });
  }
}
