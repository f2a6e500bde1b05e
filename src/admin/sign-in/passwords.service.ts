import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { hashPassword, isPassword, mintPassword } from '../password.js';
import { Secret } from '../../common/settings/secret.js';
import { UserCredential } from './user-credential.entity.js';
import type { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { NoSlotError, Slots } from '../../common/processes/slots.js';
import { checkPassword } from '../password-policy.js';
import { type SessionOwner, SessionsService } from './sessions.service.js';
import { SignInPolicyService } from './sign-in-policy.service.js';

/** Each hash takes 32 MiB and a thread of the pool that file access uses, too. */
const HASHES_AT_ONCE = 2;
const LONGEST_WAIT_MS = 10_000;

type Newcomer = Pick<User, 'organizationId' | 'email'>;

/** The only place that checks, hashes and compares passwords of users. */
@Injectable()
export class PasswordsService {
  private readonly slots = new Slots(HASHES_AT_ONCE);
  /** Compared when there is no user, so that the response takes as long. */
  private readonly dummyHash = hashPassword(mintPassword());

  constructor(
    @InjectRepository(UserCredential) private readonly credentials: Repository<UserCredential>,
    private readonly sessions: SessionsService,
    private readonly policy: SignInPolicyService,
  ) {}

  /** Refuses with `password_unacceptable` a password that is too easy to guess for this user. Takes about 0.2 s. */
  async hash(password: string, email: string): Promise<string> {
    await checkPassword(password, email);
    return this.inTurn(() => hashPassword(new Secret(password)));
  }

  /** The same for a user who is being created. Refuses with `single_sign_on_required` if passwords are disabled. */
  async hashOfNewcomer(password: string, { organizationId, email }: Newcomer): Promise<string> {
    await this.policy.checkPasswordsIn(organizationId);
    return this.hash(password, email);
  }

  /** Takes equally long for a user without a password. */
  async isRight(password: string, storedHash: string | null): Promise<boolean> {
    const hash = storedHash ?? (await this.dummyHash);
    return (await this.inTurn(() => isPassword(new Secret(password), hash))) && storedHash !== null;
  }

  async find(userId: string): Promise<string | null> {
    return (await this.credentials.findOneBy({ userId }))?.passwordHash ?? null;
  }

  /** Whether this is still the user's password; its row is locked until the transaction ends. */
  async isCurrent(userId: string, passwordHash: string): Promise<boolean> {
    const lock = { mode: 'pessimistic_read' } as const;
    return (await this.credentials.findOne({ where: { userId, passwordHash }, lock })) !== null;
  }

  /** Stores a result of `hash`, and ends all sessions of the user. */
  async set(user: SessionOwner, passwordHash: string): Promise<void> {
    const { id, organizationId } = user;
    await this.credentials.upsert(
      { userId: id, organizationId, passwordHash, passwordChangedAt: new Date() },
      ['userId'],
    );
    await this.sessions.endAllOf(user);
  }

  /** Replaces the password with this hash. Refuses with `conflict` when another change came first. */
  async replace(userId: string, verifiedHash: string, passwordHash: string): Promise<void> {
    const changed = { passwordHash, passwordChangedAt: new Date() };
    const { affected } = await this.credentials.update({ userId, passwordHash: verifiedHash }, changed);
    if (!affected)
      throw new AppError('conflict', { detail: 'Your password was changed a moment ago. Sign in again.' });
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.slots
      .take(LONGEST_WAIT_MS, () => false)
      .catch((error: unknown) => {
        throw error instanceof NoSlotError ? new AppError('overloaded') : error;
      });
    try {
      return await work();
    } finally {
      release();
    }
  }
}
