import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireOneOf } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { LimitStatusDto, LimitStatusListDto, RaiseLimitDto } from './limit-status.dto.js';
import { LimitStatusService } from './limit-status.service.js';

@AdminController('limits')
@Refusals()
export class LimitStatusController {
  constructor(
    private readonly limits: LimitStatusService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Get()
  @RequireOneOf(
    'workspace_service_api_keys.list',
    'workspace_user_api_keys.list',
    'organisation_service_api_keys.list',
    'virtual_keys.list',
    'workspaces.read',
  )
  @ApiOperation({
    summary: 'List limits and their use',
    description: 'Returns limits with what is used and what remains, fullest first.',
  })
  @ApiOkResponse({ type: LimitStatusListDto })
  async list(@Caller() caller: Principal, @Query() query: WorkspacePageQuery): Promise<LimitStatusListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    const { skip, take } = pageOf(query);
    const { statuses, isPartial } = await this.limits.list(caller, reach);
    return LimitStatusListDto.from(statuses.slice(skip, skip + take), statuses.length, isPartial);
  }

  @Post(':id/raise')
  @HttpCode(200)
  @RequireOneOf(
    'workspace_service_api_keys.update',
    'workspace_user_api_keys.update',
    'organisation_service_api_keys.update',
    'virtual_keys.update',
    'workspaces.update',
  )
  @ApiOperation({
    summary: 'Raise a budget until its next reset',
    description: 'Adds to a budget until its next reset. The budget itself does not change.',
  })
  @ApiOkResponse({ type: LimitStatusDto })
  async raise(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: RaiseLimitDto,
  ): Promise<LimitStatusDto> {
    return LimitStatusDto.from(await this.limits.raise(caller, id, dto));
  }
}
