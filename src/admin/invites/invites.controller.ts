import { Body, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AuditedAs, Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { checkRepeatedId } from '../http/repeated-id.js';
import {
  CancelInviteDto,
  CreatedInviteDto,
  CreateInviteDto,
  InviteDto,
  InviteListDto,
  ListInvitesQuery,
  ResentInviteDto,
} from './invite.dto.js';
import { InvitesService } from './invites.service.js';

@AdminController('admin/users/invites')
@Refusals()
export class InvitesController {
  constructor(private readonly invites: InvitesService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('organisation_users.create', 'administrators')
  @AuditedAs('invites.create')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Create an invite',
    description: 'Creates a one-use link. The gateway sends it if a mail server is configured.',
  })
  @ApiOkResponse({ type: CreatedInviteDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateInviteDto): Promise<CreatedInviteDto> {
    const { invite, link } = await this.invites.create(caller, dto);
    return CreatedInviteDto.from(invite, link);
  }

  @Get()
  @RequireScope('organisation_users.list', 'administrators')
  @ApiOperation({ summary: 'List invites', description: 'Returns invites with their state, newest first.' })
  @ApiOkResponse({ type: InviteListDto })
  async list(@Caller() caller: Principal, @Query() query: ListInvitesQuery): Promise<InviteListDto> {
    return InviteListDto.from(...(await this.invites.list(caller, query, pageOf(query))));
  }

  @Get(':inviteId')
  @RequireScope('organisation_users.read', 'administrators')
  @ApiOperation({
    summary: 'Read an invite',
    description: 'Returns one invite with its workspaces and state.',
  })
  @ApiOkResponse({ type: InviteDto })
  async get(@Caller() caller: Principal, @Param('inviteId') id: string): Promise<InviteDto> {
    return InviteDto.from(await this.invites.get(caller, id));
  }

  @Delete(':inviteId')
  @RequireScope('organisation_users.delete', 'administrators')
  @AuditedAs('invites.cancel')
  @ApiOperation({ summary: 'Cancel an invite', description: 'The link stops working.' })
  @ApiOkResponse({ type: DoneDto })
  async cancel(
    @Caller() caller: Principal,
    @Param('inviteId') id: string,
    @Body() { invite_id }: CancelInviteDto,
  ): Promise<DoneDto> {
    checkRepeatedId('invite_id', invite_id, id);
    await this.invites.cancel(caller, id);
    return EMPTY_RESPONSE;
  }

  @Post(':inviteId/resend')
  @HttpCode(200)
  @RequireScope('organisation_users.create', 'administrators')
  @AuditedAs('invites.resend')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Send an invite again',
    description: 'Creates a new link. The old one stops working.',
  })
  @ApiOkResponse({ type: ResentInviteDto })
  async resend(@Caller() caller: Principal, @Param('inviteId') id: string): Promise<ResentInviteDto> {
    return ResentInviteDto.from((await this.invites.resend(caller, id)).link);
  }
}
