import { Injectable } from '@nestjs/common';
import type { KnownSession } from '../../auth/ports.js';
import { AppError } from '../../common/errors/app-error.js';
import type { StepUpDto } from '../passwords/password.dto.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { SecondFactorsService } from '../second-factors/second-factors.service.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';
import { sessionAttempt, SignInThrottle } from '../sign-in-policy/sign-in-throttle.service.js';

/**
 * Verifies the password of a session's user again, and the second factor if there is one. Attempts count for the session: a stolen one is
 * no faster way to guess, and guesses elsewhere do not keep its user from it.
 */
@Injectable()
export class ReauthenticationService {
  constructor(
    private readonly passwords: PasswordsService,
    private readonly secondFactors: SecondFactorsService,
    private readonly policy: SignInPolicyService,
    private readonly throttle: SignInThrottle,
  ) {}

  /**
   * Returns the stored hash of the password. Refuses with `reauthentication_failed` a wrong password. Call it outside a transaction: none
   * may be open while passwords are hashed, and a failure stays counted.
   */
  async verify(session: KnownSession, { password, code }: StepUpDto, address: string): Promise<string> {
    await this.policy.checkSession(session);
    return this.throttle.counted(sessionAttempt(session, address), async () => {
      const { userId: id, organizationId } = session;
      const hash = await this.passwords.find(id);
      const waiter = { origin: `session ${session.id}`, isTrusted: true };
      const [isRight] = await this.passwords.areRight(password, hash === null ? [] : [hash], waiter);
      if (!isRight || hash === null) throw new AppError('reauthentication_failed');
      await this.secondFactors.check({ id, organizationId }, code);
      return hash;
    });
  }
}
