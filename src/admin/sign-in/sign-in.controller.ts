import { Body, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OriginGuard } from '../../auth/strategies/origin.guard.js';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { AuditedTransactions } from '../audit/audited-transactions.service.js';
import { OwnTransactions } from '../http/own-transactions.decorator.js';
import { Refusals, Refuses } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { SignedInDto } from '../dto-fields/signed-in.dto.js';
import { SignedInService } from '../signed-in-user/signed-in.service.js';
import { signInOrigin } from '../sessions/sessions.service.js';
import { PasswordSignInService } from './password-sign-in.service.js';
import { SignInDto } from './sign-in.dto.js';
import { SignInService } from './sign-in.service.js';

@PublicController('auth/sign-in', 'auth')
@Refusals()
export class SignInController {
  constructor(
    private readonly passwords: PasswordSignInService,
    private readonly signIn: SignInService,
    private readonly signedIn: SignedInService,
    private readonly addresses: ClientAddresses,
    private readonly transactions: AuditedTransactions,
    private readonly audit: AuditTrail,
  ) {}

  @Post()
  @HttpCode(200)
  @OwnTransactions()
  @UseGuards(OriginGuard)
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
    @Body() dto: SignInDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignedInDto> {
    const user = await this.passwords.verify(dto, request);
    const origin = signInOrigin(request, this.addresses);
    return this.transactions.run(reply, async () => {
      const { session, cookies } = await this.signIn.openWithPassword(user, origin);
      this.audit.note({ targetId: session.id, after: this.signedIn.shown(session, true) });
      const signedIn = await this.signedIn.of(session);
      reply.header('set-cookie', cookies);
      return signedIn;
    });
  }
}
