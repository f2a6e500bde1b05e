import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { sessionOf } from '../../auth/permissions/access.js';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { createValidationPipe } from '../http/validation.js';
import { ChangePasswordDto, StepUpDto } from '../passwords/password.dto.js';
import { PasswordsService } from '../passwords/passwords.service.js';
import { SecondFactorsService } from '../second-factors/second-factors.service.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';
import { sessionAttempt, SignInThrottle } from '../sign-in-policy/sign-in-throttle.service.js';

const VERIFIED_HASH = new WeakMap<object, string>();

/** The stored hash of the password that the guard verified. */
export function verifiedHashOf(request: object): string {
  const hash = VERIFIED_HASH.get(request);
  if (hash === undefined) throw new Error('The password was asked for before ReauthenticationGuard had run.');
  return hash;
}

/**
 * Requires the password of the session's user again, and the second factor if there is one. Attempts count for the session: a stolen one is
 * no faster way to guess, and guesses elsewhere do not keep its user from it. A guard, because no transaction is open then, and a failure stays counted.
 */
@Injectable()
export class ReauthenticationGuard implements CanActivate {
  private readonly validation = createValidationPipe();

  constructor(
    private readonly passwords: PasswordsService,
    private readonly secondFactors: SecondFactorsService,
    private readonly policy: SignInPolicyService,
    private readonly brakes: SignInThrottle,
    private readonly addresses: ClientAddresses,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { password, code } = await this.proofIn(request.body);
    const session = sessionOf(context);
    const { userId: id, organizationId } = session;
    await this.policy.checkSession(session);
    const attempt = sessionAttempt(session, this.addresses.of(request.raw));
    await this.brakes.count(attempt);
    const hash = await this.passwords.find(id);
    const waiter = { origin: `session ${session.id}`, isTrusted: true };
    const [isRight] = await this.passwords.areRight(password, hash === null ? [] : [hash], waiter);
    if (!isRight || hash === null) throw new AppError('reauthentication_failed');
    await this.secondFactors.check({ id, organizationId }, code);
    await this.brakes.giveBack(attempt);
    VERIFIED_HASH.set(request, hash);
    return true;
  }

  /** Pipes run after guards, so the body is validated here, too. */
  private async proofIn(body: unknown): Promise<StepUpDto> {
    const isChange = typeof body === 'object' && body !== null && 'current_password' in body;
    const metatype = isChange ? ChangePasswordDto : StepUpDto;
    const dto = (await this.validation.transform(body ?? {}, { type: 'body', metatype })) as
      ChangePasswordDto | StepUpDto;
    return 'current_password' in dto ? { password: dto.current_password, code: dto.code } : dto;
  }
}
