import { Body, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallerSession, ForSession } from '../../auth/permissions/access.decorators.js';
import type { KnownSession } from '../../auth/ports.js';
import { OriginGuard } from '../../auth/strategies/origin.guard.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { AdminController } from '../controllers/admin-controller.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { Refusals } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { TakesCredential } from '../dto-fields/passkey-credential.js';
import { PasskeyThrottle, PasskeyThrottleGuard } from '../passkeys/passkey-throttle.guard.js';
import { originOf } from '../sessions/sign-in-origin.js';
import { PasskeySignInService } from './passkey-sign-in.service.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';

class ShowPasskeyDto {
  @TakesCredential()
  readonly credential: object;
}

/** Needs no other credential than the passkey. */
@PublicController('auth/passkeys/sign-in', 'auth')
@Refusals()
export class PasskeySignInController {
  constructor(
    private readonly passkeys: PasskeySignInService,
    private readonly signedIn: SignedInService,
    private readonly addresses: ClientAddresses,
    private readonly throttle: PasskeyThrottle,
  ) {}

  @Post()
  @HttpCode(200)
  @UseGuards(OriginGuard, PasskeyThrottleGuard)
  @ApiOperation({
    summary: 'Sign in with a passkey',
    description: 'Opens a session and sets its cookie.',
    security: [],
  })
  @ApiOkResponse({ type: SignedInDto })
  async signIn(
    @Body() { credential }: ShowPasskeyDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedInDto> {
    const { session, cookies } = await this.passkeys.signIn(credential, originOf(request, this.addresses));
    const answer = await this.signedIn.of(session);
    this.throttle.succeeded(request);
    reply.header('set-cookie', cookies);
    return answer;
  }
}

@AdminController('auth/passkeys/step-up')
@Refusals()
export class PasskeyStepUpController {
  constructor(
    private readonly passkeys: PasskeySignInService,
    private readonly sessions: SessionsService,
    private readonly signedIn: SignedInService,
    private readonly audit: AuditTrail,
    private readonly throttle: PasskeyThrottle,
  ) {}

  @Post()
  @HttpCode(200)
  @ForSession('sessions.update')
  @UseGuards(PasskeyThrottleGuard)
  @ApiOperation({
    summary: 'Confirm your identity with a passkey',
    description: 'Confirms your identity for 10 minutes with a passkey, for changes that need it.',
  })
  @ApiOkResponse({ type: SignedInDto })
  async stepUp(
    @CallerSession() known: KnownSession,
    @Body() { credential }: ShowPasskeyDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedInDto> {
    this.audit.note({ targetId: known.id });
    await this.passkeys.confirm(known, credential);
    const { session, cookie } = await this.sessions.renew(known);
    const answer = await this.signedIn.of(session, known.principal.scopes);
    this.throttle.succeeded(request);
    reply.header('set-cookie', cookie);
    return answer;
  }
}
