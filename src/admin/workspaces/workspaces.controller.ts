import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { LimitsService } from '../limits/limits.service.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { checkRepeatedId } from '../http/repeated-id.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  CreateWorkspaceDto,
  ListWorkspacesQuery,
  RemoveWorkspaceDto,
  RemoveWorkspaceQuery,
  UpdateWorkspaceDto,
  WorkspaceListDto,
  WorkspaceWithUsersDto,
} from './workspace.dto.js';
import { WorkspaceRemovalService } from './workspace-removal.service.js';
import { WorkspacesService } from './workspaces.service.js';
import { WorkspaceParameter } from './workspace-parameter.js';

@AdminController('admin/workspaces', 'organisation')
@Refusals()
export class WorkspacesController {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly finder: WorkspaceFinder,
    private readonly removal: WorkspaceRemovalService,
    private readonly limits: LimitsService,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('workspaces.create', 'administrators')
  @RequireStepUp('users')
  @ApiOperation({
    summary: 'Create a workspace',
    description: 'Creates a workspace. Its keys, configs and logs are apart from those of others.',
  })
  @ApiOkResponse({ type: WorkspaceWithUsersDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateWorkspaceDto): Promise<WorkspaceWithUsersDto> {
    return this.workspaces.withMembers(await this.workspaces.create(caller, dto));
  }

  @Get()
  @RequireScope('workspaces.list')
  @ApiOperation({
    summary: 'List workspaces',
    description: 'Returns workspaces with their defaults, newest first.',
  })
  @ApiOkResponse({ type: WorkspaceListDto })
  async list(@Caller() caller: Principal, @Query() query: ListWorkspacesQuery): Promise<WorkspaceListDto> {
    const filters = { name: query.name, exactName: query.exact_name };
    if (query.status === 'archived') return WorkspaceListDto.from([], 0);
    const [workspaces, total] = await this.workspaces.list(caller, filters, pageOf(query));
    return WorkspaceListDto.from(workspaces, total, await this.limits.usageOf(workspaces));
  }

  @Get(':workspaceId')
  @RequireScope('workspaces.read')
  @ApiOperation({
    summary: 'Read a workspace',
    description: 'Returns the workspace with its defaults, its limits and its first members.',
  })
  @ApiOkResponse({ type: WorkspaceWithUsersDto })
  @WorkspaceParameter
  async get(
    @Caller() caller: Principal,
    @Param('workspaceId') named: string,
  ): Promise<WorkspaceWithUsersDto> {
    return this.workspaces.withMembers(await this.finder.get(caller, named));
  }

  @Put(':workspaceId')
  @RequireScope('workspaces.update', 'administrators')
  @RequireStepUp('defaults', 'log_redaction', 'log_retention_days', 'body_retention_days')
  @ApiOperation({ summary: 'Change a workspace', description: 'Changes the fields that are sent.' })
  @ApiOkResponse({ type: DoneDto })
  @WorkspaceParameter
  async update(
    @Caller() caller: Principal,
    @Param('workspaceId') named: string,
    @Body() dto: UpdateWorkspaceDto,
  ): Promise<DoneDto> {
    await this.workspaces.update(caller, named, dto);
    return EMPTY_RESPONSE;
  }

  @Delete(':workspaceId')
  @RequireScope('workspaces.delete', 'administrators')
  @ApiOperation({
    summary: 'Delete a workspace',
    description:
      'Deletes an empty workspace and revokes its API keys. Delete its virtual keys, integrations, configs and guardrails first. The request log is kept as long as its retention says.',
  })
  @ApiOkResponse({ type: DoneDto })
  @WorkspaceParameter
  async remove(
    @Caller() caller: Principal,
    @Param('workspaceId') named: string,
    @Query() query: RemoveWorkspaceQuery,
    @Body() dto: RemoveWorkspaceDto,
  ): Promise<DoneDto> {
    checkRepeatedId('workspace_id', dto.workspace_id, named);
    await this.removal.remove(caller, named, dto.name ?? query.name);
    return EMPTY_RESPONSE;
  }
}
