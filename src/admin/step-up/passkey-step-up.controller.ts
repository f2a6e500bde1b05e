import { Body, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallerSession, ForSession } from '../../auth/permissions/access.decorators.js';
import type { KnownSession } from '../../auth/ports.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { AdminController } from '../controllers/admin-controller.js';
import { ShowPasskeyDto } from '../dto-fields/passkey-credential.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { Refusals } from '../openapi/decorators.js';
import { PasskeyThrottle, PasskeyThrottleGuard } from '../passkeys/passkey-throttle.guard.js';
import { PasskeysService } from '../passkeys/passkeys.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';

@AdminController('auth/passkeys/step-up')
@Refusals()
export class PasskeyStepUpController {
  constructor(
    private readonly passkeys: PasskeysService,
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
    const { userId } = await this.passkeys.use(credential);
    if (userId !== known.userId) throw new AppError('passkey_failed');
    const { session, cookie } = await this.sessions.renew(known);
    const signedIn = await this.signedIn.of(session, known.principal.scopes);
    this.throttle.succeeded(request);
    reply.header('set-cookie', cookie);
    return signedIn;
  }
}
