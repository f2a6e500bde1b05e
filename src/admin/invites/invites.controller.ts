import { Body, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AuditedAs, Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { choiceOf, type ListQuery, pageOf } from '../../common/http/page.js';
import { emailParameterOf } from '../../common/http/email-address.js';
import { AdminController } from '../admin-controller.js';
import { DoneDto, EMPTY_ANSWER, PagedQuery, QueryParameter, Refusals } from '../openapi/decorators.js';
import { checkRepeated } from '../repeated-id.js';
import {
  CancelInviteDto,
  CreatedInviteDto,
  CreateInviteDto,
  INVITE_STATUSES,
  InviteDto,
  INVITED_ROLES,
  InviteListDto,
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
  @ApiOperation({ summary: 'Create an invite' })
  @ApiOkResponse({ type: CreatedInviteDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateInviteDto): Promise<CreatedInviteDto> {
    const { invite, link } = await this.invites.create(caller, dto);
    return CreatedInviteDto.from(invite, link);
  }

  @Get()
  @RequireScope('organisation_users.list', 'administrators')
  @ApiOperation({ summary: 'List invites' })
  @PagedQuery()
  @QueryParameter({ name: 'role', required: false, enum: INVITED_ROLES })
  @QueryParameter({ name: 'email', required: false, type: String })
  @QueryParameter({ name: 'status', required: false, enum: INVITE_STATUSES })
  @ApiOkResponse({ type: InviteListDto })
  async list(@Caller() caller: Principal, @Query() query: ListQuery): Promise<InviteListDto> {
    const filters = {
      role: choiceOf(query, 'role', INVITED_ROLES),
      email: emailParameterOf(query, 'email'),
      status: choiceOf(query, 'status', INVITE_STATUSES),
    };
    return InviteListDto.from(...(await this.invites.list(caller, filters, pageOf(query))));
  }

  @Get(':inviteId')
  @RequireScope('organisation_users.read', 'administrators')
  @ApiOperation({ summary: 'Read an invite' })
  @ApiOkResponse({ type: InviteDto })
  async get(@Caller() caller: Principal, @Param('inviteId') id: string): Promise<InviteDto> {
    return InviteDto.from(await this.invites.get(caller, id));
  }

  @Delete(':inviteId')
  @RequireScope('organisation_users.delete', 'administrators')
  @AuditedAs('invites.cancel')
  @ApiOperation({ summary: 'Cancel an invite' })
  @ApiOkResponse({ type: DoneDto })
  async cancel(
    @Caller() caller: Principal,
    @Param('inviteId') id: string,
    @Body() { invite_id }: CancelInviteDto,
  ): Promise<DoneDto> {
    checkRepeated('invite_id', invite_id, id);
    await this.invites.cancel(caller, id);
    return EMPTY_ANSWER;
  }

  @Post(':inviteId/resend')
  @HttpCode(200)
  @RequireScope('organisation_users.create', 'administrators')
  @AuditedAs('invites.resend')
  @RequireStepUp()
  @ApiOperation({ summary: 'Send an invite again' })
  @ApiOkResponse({ type: ResentInviteDto })
  async resend(@Caller() caller: Principal, @Param('inviteId') id: string): Promise<ResentInviteDto> {
    return ResentInviteDto.from((await this.invites.resend(caller, id)).link);
  }
}
