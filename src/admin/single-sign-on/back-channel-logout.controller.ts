import { Body, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiConsumes, ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { FORM_TYPE } from '../../common/http/form-body.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { DoneDto, EMPTY_RESPONSE, Refusals, Refuses } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { directoryActor } from './directory-actor.js';
import { ProviderSessionsService } from '../openid-connect/provider-sessions.service.js';
import { logoutsIn, LogoutTokenGuard } from './single-sign-on.guards.js';

class BackChannelLogoutDto {
  @ApiProperty({ writeOnly: true, example: 'eyJhbGciOi…' })
  @IsString()
  readonly logout_token: string;
}

/** For identity providers: the token is the credential. */
@PublicController('auth/single-sign-on/back-channel-logout', 'auth')
@Refusals()
export class BackChannelLogoutController {
  constructor(
    private readonly providerSessions: ProviderSessionsService,
    private readonly audit: AuditTrail,
  ) {}

  @Post()
  @HttpCode(200)
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
  async logOut(@Body() _dto: BackChannelLogoutDto, @Req() request: FastifyRequest): Promise<DoneDto> {
    for (const { provider, told } of logoutsIn(request)) {
      const [userId = null] = await this.providerSessions.end(provider, told);
      const { organizationId, name } = provider;
      this.audit.identify(directoryActor(organizationId, name, userId), 'sessions.delete');
      this.audit.note({ targetId: provider.id, workspaceId: null });
    }
    return EMPTY_RESPONSE;
  }
}
