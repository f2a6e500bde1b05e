import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { CreateLogViewDto, LogViewDto, LogViewListDto, UpdateLogViewDto } from './log-view.dto.js';
import { LogViewsService, viewOwner } from './log-views.service.js';

@AdminController('logs/views')
@Refusals()
export class LogViewsController {
  constructor(
    private readonly views: LogViewsService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Get()
  @RequireScope('logs.list')
  @ApiOperation({
    summary: 'List saved views',
    description: 'Returns saved filters, ranges and columns by name.',
  })
  @ApiOkResponse({ type: LogViewListDto })
  async list(@Caller() caller: Principal, @Query() query: WorkspacePageQuery): Promise<LogViewListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    return LogViewListDto.from(...(await this.views.list(caller, reach, pageOf(query))), viewOwner(caller));
  }

  @Post()
  @HttpCode(200)
  @RequireScope('logs.list')
  @ApiOperation({
    summary: 'Create a saved view',
    description: 'Saves a filter, a range and columns under a name.',
  })
  @ApiOkResponse({ type: LogViewDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateLogViewDto): Promise<LogViewDto> {
    return LogViewDto.from(await this.views.create(caller, dto), viewOwner(caller));
  }

  @Put(':id')
  @RequireScope('logs.list')
  @ApiOperation({
    summary: 'Change a saved view',
    description:
      'Changes the fields that are sent. A shared view can also be changed with the scope `workspaces.update`.',
  })
  @ApiOkResponse({ type: LogViewDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateLogViewDto,
  ): Promise<LogViewDto> {
    return LogViewDto.from(await this.views.update(caller, id, dto), viewOwner(caller));
  }

  @Delete(':id')
  @RequireScope('logs.list')
  @ApiOperation({
    summary: 'Delete a saved view',
    description: 'Deletes the view. Only its owner can delete it.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() caller: Principal, @Param('id') id: string): Promise<DoneDto> {
    await this.views.remove(caller, id);
    return EMPTY_RESPONSE;
  }
}
