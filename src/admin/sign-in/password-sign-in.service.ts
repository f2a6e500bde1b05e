import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessOf } from '../../auth/permissions/access.js';
import { AppError } from '../../common/errors/app-error.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import type { SlotWaiter } from '../../common/processes/semaphore.js';
import { createLogger } from '../../common/observability/logger.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { SecondFactorsService } from '../second-factors/second-factors.service.js';
import { KnownDevices } from './known-devices.service.js';
import {
  networkOf,
  type SignInAttempt,
  SignInThrottle,
  ThrottledError,
} from '../sign-in-policy/sign-in-throttle.service.js';
import type { SignInDto } from './sign-in.dto.js';
import { type NamedUser, signingIn, SignInService, type VerifiedUser } from './sign-in.service.js';

/**
 * Between comparing the password and responding to a failure: a known user's record is written in this time, so it does not show in the
 * duration.
 */
const FAILURE_PAUSE_MS = 100;

interface CheckedCode {
  readonly user: VerifiedUser;
  readonly code: string | undefined;
  readonly attempt: SignInAttempt;
}

/** Networks of one customer: a provider often hands out a /48, so a flood from many of its /64 has one turn. */
const IPV6_CUSTOMER_BITS = 48;

const waiterOf = ({ kind, address, subject }: SignInAttempt): SlotWaiter =>
  kind === 'knownDevice'
    ? { origin: `device ${subject}`, isTrusted: true }
    : { origin: networkOf(address, IPV6_CUSTOMER_BITS), isTrusted: false };

const logger = createLogger('sign-in');

/**
 * Checks email address and password. Call it outside a transaction: none may be open while passwords are hashed, and a failed attempt stays
 * counted. Every failure has the same response and duration.
 */
@Injectable()
export class PasswordSignInService {
  constructor(
    private readonly signIn: SignInService,
    private readonly secondFactors: SecondFactorsService,
    private readonly throttle: SignInThrottle,
    private readonly devices: KnownDevices,
    private readonly trail: AuditTrail,
    private readonly addresses: ClientAddresses,
  ) {}

  /** The user with this password and, if they have a second factor, this code. Refuses with `sign_in_failed` and the codes of factors. */
  async verify(dto: SignInDto, request: FastifyRequest): Promise<VerifiedUser> {
    const attempt = this.attemptIn(request, dto);
    await this.throttle.count(attempt).catch((error: unknown) => this.refuseThrottled(request, dto, error));
    const { user, namedUser, refusal } = await this.signIn.verify(dto, waiterOf(attempt));
    if (!user) {
      const recorded = namedUser && this.recordFailure(request, namedUser, new AppError(refusal));
      await Promise.all([sleep(FAILURE_PAUSE_MS), recorded]);
      throw new AppError('sign_in_failed');
    }
    await this.checkCode(request, { user, code: dto.code, attempt });
    await this.throttle.refund(attempt);
    return user;
  }

  private attemptIn(request: FastifyRequest, { email }: SignInDto): SignInAttempt {
    const address = this.addresses.of(request.raw);
    const account = normalizeEmail(email) ?? email;
    const device = this.devices.find(request.headers.cookie, account);
    return device === null
      ? { kind: 'password', address, subject: account }
      : { kind: 'knownDevice', address, subject: `${device} ${account}` };
  }

  /** The first refusal of a window is recorded. Its pause has the same length for an account that does not exist. */
  private async refuseThrottled(request: FastifyRequest, dto: SignInDto, error: unknown): Promise<never> {
    if (error instanceof ThrottledError && error.isFirst) {
      const recorded = this.signIn
        .userNamedBy(dto)
        .then((meant) => meant && this.recordFailure(request, meant, error));
      await Promise.all([sleep(FAILURE_PAUSE_MS), recorded]);
    }
    throw error;
  }

  /** A first request without the code is not a failed attempt: it is neither recorded nor counted. */
  private async checkCode(request: FastifyRequest, { user, code, attempt }: CheckedCode): Promise<void> {
    const access = { caller: signingIn(user), action: 'sessions.create' };
    try {
      await this.secondFactors.check(user, code);
    } catch (error) {
      if (error instanceof AppError && error.code === 'second_factor_required')
        await this.throttle.undo(attempt);
      else Object.assign(accessOf(request), access);
      throw error;
    }
    Object.assign(accessOf(request), access);
  }

  /** Recorded here instead of in the filter for refusals, which would add time after the pause. */
  private async recordFailure(
    request: FastifyRequest,
    meant: NamedUser,
    { code, spec }: AppError,
  ): Promise<void> {
    const access = accessOf(request);
    Object.assign(access, { caller: signingIn(meant), action: 'sessions.create' });
    try {
      await this.trail.record(request, { outcome: 'refused', status: spec.status, errorCode: code });
    } catch (error) {
      logger.error(
        { request_id: request.id, failure: describeFailure(error) },
        'A failed sign-in could not be recorded.',
      );
    }
    delete access.caller;
  }
}
