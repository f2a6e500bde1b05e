import { Body, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OriginGuard } from '../../auth/strategies/origin.guard.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { Refusals } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { ShowPasskeyDto } from '../dto-fields/passkey-credential.js';
import { PasskeyThrottle, PasskeyThrottleGuard } from '../passkeys/passkey-throttle.guard.js';
import { signInOrigin } from '../sessions/sessions.service.js';
import { PasskeySignInService } from './passkey-sign-in.service.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';

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
    const { session, cookies } = await this.passkeys.signIn(
      credential,
      signInOrigin(request, this.addresses),
    );
    const signedIn = await this.signedIn.of(session);
    this.throttle.succeeded(request);
    reply.header('set-cookie', cookies);
    return signedIn;
  }
}
