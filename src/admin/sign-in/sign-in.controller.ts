import { Body, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OriginGuard } from '../../auth/strategies/origin.guard.js';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { Refusals, Refuses } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';
import { PasswordSignInGuard, verifiedUserOf } from './password-sign-in.guard.js';
import { originOf } from '../sessions/sign-in-origin.js';
import { SignInDto } from './sign-in.dto.js';
import { SignInService } from './sign-in.service.js';

@PublicController('auth/sign-in', 'auth')
@Refusals()
export class SignInController {
  constructor(
    private readonly signIn: SignInService,
    private readonly signedIn: SignedInService,
    private readonly addresses: ClientAddresses,
    private readonly audit: AuditTrail,
  ) {}

  @Post()
  @HttpCode(200)
  @UseGuards(OriginGuard, PasswordSignInGuard)
  @ApiOperation({
    summary: 'Sign in with a password',
    description:
      'Opens a session and sets its cookie. Too many failed attempts are refused with 429 for a while.',
    security: [],
  })
  @Refuses(
    new AppError('sign_in_failed'),
    'The address or the password is wrong, or single sign-on is required.',
  )
  @ApiOkResponse({ type: SignedInDto })
  async withPassword(
    @Body() _dto: SignInDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedInDto> {
    const origin = originOf(request, this.addresses);
    const { session, cookies } = await this.signIn.openWithPassword(verifiedUserOf(request), origin);
    this.audit.note({ targetId: session.id, after: this.signedIn.shown(session, true) });
    const answer = await this.signedIn.of(session);
    reply.header('set-cookie', cookies);
    return answer;
  }
}
