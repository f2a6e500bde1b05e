import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessOf } from '../../auth/permissions/access.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { createLogger } from '../../common/observability/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import {
  sessionAttempt,
  type SignInAttempt,
  SignInThrottle,
} from '../sign-in-policy/sign-in-throttle.service.js';
import { SignInPolicyService } from '../sign-in-policy/sign-in-policy.service.js';

const logger = createLogger('sign-in');

/** Counts attempts with passkeys. */
@Injectable()
export class PasskeyThrottle {
  constructor(
    private readonly throttle: SignInThrottle,
    private readonly addresses: ClientAddresses,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async count(request: FastifyRequest): Promise<void> {
    await this.throttle.count(this.attemptOf(request));
  }

  /** The attempt does not count as a failure. After the commit, because a request must not take a second connection. */
  succeeded(request: FastifyRequest): void {
    const attempt = this.attemptOf(request);
    this.unitOfWork.afterCommit(() => void this.throttle.refund(attempt).catch(noteFailure));
  }

  private attemptOf(request: FastifyRequest): SignInAttempt {
    const { session } = accessOf(request);
    const address = this.addresses.of(request.raw);
    return session ? sessionAttempt(session, address) : { kind: 'passkey', address, subject: '' };
  }
}

const noteFailure = (error: unknown): void =>
  logger.error({ failure: describeFailure(error) }, 'A successful attempt stays counted as a failure.');

/**
 * Throttles attempts with passkeys. A signature cannot be guessed, but each one takes work, and a known user's failures are recorded. For a
 * session, passkeys must count for its user.
 */
@Injectable()
export class PasskeyThrottleGuard implements CanActivate {
  constructor(
    private readonly throttle: PasskeyThrottle,
    private readonly policy: SignInPolicyService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { session } = accessOf(request);
    if (session) await this.policy.checkSession(session);
    await this.throttle.count(request);
    return true;
  }
}
