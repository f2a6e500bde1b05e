import { Body, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { FORM_TYPE } from '../../common/http/form-body.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { AuditedTransactions } from '../audit/audited-transactions.service.js';
import { OwnTransactions } from '../http/own-transactions.decorator.js';
import { DoneDto, EMPTY_RESPONSE, Refusals, Refuses } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { directoryActor } from './directory-actor.js';
import { ProviderSessionsService } from '../openid-connect/provider-sessions.service.js';
import { BackChannelLogoutService, type VerifiedLogout } from './back-channel-logout.service.js';
import { LogoutTokenGuard } from './logout-token.guard.js';

class BackChannelLogoutDto {
  @ApiProperty({
    description: 'Logout token of OpenID Connect Back-Channel Logout 1.0, signed by the identity provider.',
    writeOnly: true,
    example: 'eyJhbGciOi…',
  })
  @IsString()
  readonly logout_token: string;
}

/** For identity providers: the token is the credential. */
@PublicController('auth/single-sign-on/back-channel-logout', 'auth')
@Refusals()
export class BackChannelLogoutController {
  constructor(
    private readonly logouts: BackChannelLogoutService,
    private readonly providerSessions: ProviderSessionsService,
    private readonly addresses: ClientAddresses,
    private readonly transactions: AuditedTransactions,
    private readonly audit: AuditTrail,
  ) {}

  @Post()
  @HttpCode(200)
  @OwnTransactions()
  @UseGuards(LogoutTokenGuard)
  @ApiConsumes(FORM_TYPE)
  @ApiOperation({
    summary: 'Receive a back-channel logout',
    description:
      'Receives a logout token (OpenID Connect Back-Channel Logout 1.0) and ends the sessions that it names.',
    security: [],
  })
  @Refuses(
    new AppError('logout_token_invalid', { detail: 'it was used before' }),
    'The token is not accepted.',
  )
  @ApiOkResponse({ type: DoneDto })
  async logOut(
    @Body() { logout_token: token }: BackChannelLogoutDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DoneDto> {
    const logouts = await this.logouts.verify(token, this.addresses.of(request.raw));
    await this.transactions.run(reply, async () => {
      for (const logout of logouts) await this.end(logout);
    });
    return EMPTY_RESPONSE;
  }

  private async end({ provider, session }: VerifiedLogout): Promise<void> {
    const [userId = null] = await this.providerSessions.end(provider, session);
    const { organizationId, name } = provider;
    this.audit.identify(directoryActor(organizationId, name, userId), 'sessions.delete');
    this.audit.note({ targetId: provider.id, workspaceId: null });
  }
}
