import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { hashPassword, isPassword, mintPassword } from './password.js';
import { Secret } from '../../common/settings/secret.js';
import { SignInLink } from './sign-in-link.entity.js';
import { UserCredential } from './user-credential.entity.js';
import type { User } from '../tenancy/user.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { NoSlotError, Semaphore, type SlotWaiter } from '../../common/processes/semaphore.js';
import { checkPassword } from './password-policy.js';
import { type SessionOwner, SessionsService } from '../sessions/sessions.service.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';

/** Each hash takes 32 MiB and a thread of the pool that file access uses, too. */
const HASHES_AT_ONCE = 2;
const LONGEST_WAIT_MS = 10_000;
/** An office may sign in at once behind one address. The throttle by address limits the rest. */
const LONGEST_LINE = 10;

type NewUser = Pick<User, 'organizationId' | 'email'>;

/**
 * The only place that checks, hashes and compares passwords of users.
 *
 * Hashes are slow, so under a flood callers wait. Addresses take turns, and callers that have proved something (a known device, a session, a
 * link) go first. Whether an account exists has no influence on the order: ordered by that, a flood would show which accounts exist.
 */
@Injectable()
export class PasswordsService {
  private readonly slots = new Semaphore(HASHES_AT_ONCE, LONGEST_LINE);
  /** Compared when there is no user, so that the response takes as long. */
  private readonly dummyHash = hashPassword(mintPassword());

  constructor(
    @InjectRepository(UserCredential) private readonly credentials: Repository<UserCredential>,
    @InjectRepository(SignInLink) private readonly links: Repository<SignInLink>,
    private readonly sessions: SessionsService,
    private readonly policy: SignInPolicyService,
  ) {}

  /** For a caller who has a session or a link. Refuses with `password_unacceptable` a password that is too easy to guess for this user. Takes about 0.2 s. */
  async hash(password: string, email: string): Promise<string> {
    await checkPassword(password, email);
    const waiter = { origin: `new password ${email}`, isTrusted: true };
    return this.inTurn(waiter, () => hashPassword(new Secret(password)));
  }

  /** The same for a user who is being created. Refuses with `single_sign_on_required` if passwords are disabled. */
  async hashForNewUser(password: string, { organizationId, email }: NewUser): Promise<string> {
    await this.policy.checkPasswordsIn(organizationId);
    return this.hash(password, email);
  }

  /**
   * Whether it is the password of each hash. All are compared at the same time in one turn, and without any a dummy is: the number of
   * accounts of an address does not multiply the time.
   */
  async areRight(
    password: string,
    hashes: readonly string[],
    waiter: SlotWaiter,
  ): Promise<readonly boolean[]> {
    const compared = hashes.length === 0 ? [await this.dummyHash] : hashes;
    const secret = new Secret(password);
    const results = await this.inTurn(waiter, () =>
      Promise.all(compared.map((hash) => isPassword(secret, hash))),
    );
    return hashes.map((_, index) => results[index] ?? false);
  }

  async find(userId: string): Promise<string | null> {
    return (await this.credentials.findOneBy({ userId }))?.passwordHash ?? null;
  }

  /** Whether this is still the user's password; its row is locked until the transaction ends. */
  async isCurrent(userId: string, passwordHash: string): Promise<boolean> {
    const lock = { mode: 'pessimistic_read' } as const;
    return (await this.credentials.findOne({ where: { userId, passwordHash }, lock })) !== null;
  }

  /** Stores a result of `hash`, and ends all sessions and links of the user. */
  async set(user: SessionOwner, passwordHash: string): Promise<void> {
    const { id, organizationId } = user;
    await this.credentials.upsert(
      { userId: id, organizationId, passwordHash, passwordChangedAt: new Date() },
      ['userId'],
    );
    await this.links.delete({ organizationId, userId: id });
    await this.sessions.endAllOf(user);
  }

  /** Replaces the password with this hash, and ends the user's links. Refuses with `conflict` when another change came first. */
  async replace(
    { id: userId, organizationId }: SessionOwner,
    verifiedHash: string,
    passwordHash: string,
  ): Promise<void> {
    const changed = { passwordHash, passwordChangedAt: new Date() };
    const { affected } = await this.credentials.update({ userId, passwordHash: verifiedHash }, changed);
    if (!affected)
      throw new AppError('conflict', { detail: 'Your password was changed a moment ago. Sign in again.' });
    await this.links.delete({ organizationId, userId });
  }

  private async inTurn<T>(waiter: SlotWaiter, work: () => Promise<T>): Promise<T> {
    const release = await this.slots.take(LONGEST_WAIT_MS, waiter).catch((error: unknown) => {
      throw error instanceof NoSlotError ? new AppError('overloaded') : error;
    });
    try {
      return await work();
    } finally {
      release();
    }
  }
}
