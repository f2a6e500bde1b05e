import { Body, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AppError } from '../../common/errors/app-error.js';
import { Refusals, Refuses } from '../openapi/decorators.js';
import { PublicController } from '../controllers/public-controller.js';
import { AcceptedInviteDto, AcceptInviteDto } from './accept-invite.dto.js';
import { InviteAcceptanceService } from './invite-acceptance.service.js';

/** Needs no API key: the token of the invite is the credential. */
@PublicController('admin/invites/accept', 'users')
@Refusals()
export class AcceptInviteController {
  constructor(private readonly acceptance: InviteAcceptanceService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Accept an invite',
    description: 'Creates the user with the token of the link, and shows their API keys once.',
    security: [],
  })
  @Refuses(new AppError('invite_gone'), 'The invite is used, cancelled or expired.')
  @ApiOkResponse({ type: AcceptedInviteDto })
  accept(@Body() dto: AcceptInviteDto): Promise<AcceptedInviteDto> {
    return this.acceptance.accept(dto);
  }
}
