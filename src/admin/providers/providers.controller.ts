import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import type { Reach } from '../../auth/tenant.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { WorkspacePageQuery, WorkspaceQuery } from '../http/page-query.dto.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  CreateProviderDto,
  ProviderDto,
  ProviderListDto,
  ProviderNameDto,
  UpdateProviderDto,
} from './provider.dto.js';
import { ProvidersService } from './providers.service.js';

@AdminController('providers', 'integrations')
@Refusals()
export class ProvidersController {
  constructor(
    private readonly providers: ProvidersService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('providers.create')
  @ApiOperation({
    summary: 'Create a provider',
    description: 'Makes an integration usable in a workspace. Requests can name the slug at once.',
  })
  @ApiOkResponse({ type: ProviderNameDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateProviderDto): Promise<ProviderNameDto> {
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    return ProviderNameDto.from(await this.providers.create(tenant, dto));
  }

  @Get()
  @RequireScope('providers.list')
  @ApiOperation({
    summary: 'List providers',
    description: 'Returns the providers of the workspaces within reach, newest first.',
  })
  @ApiOkResponse({ type: ProviderListDto })
  async list(@Caller() caller: Principal, @Query() query: WorkspacePageQuery): Promise<ProviderListDto> {
    return ProviderListDto.from(
      ...(await this.providers.list(await this.reach(caller, query), pageOf(query))),
    );
  }

  @Get(':slug')
  @RequireScope('providers.read')
  @ApiOperation({ summary: 'Read a provider', description: 'Returns the provider and its integration.' })
  @ApiOkResponse({ type: ProviderDto })
  async get(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: WorkspaceQuery,
  ): Promise<ProviderDto> {
    return ProviderDto.from(await this.providers.get(await this.reach(caller, query), slug));
  }

  @Put(':slug')
  @RequireScope('providers.update')
  @ApiOperation({ summary: 'Change a provider', description: 'Changes the fields that are sent.' })
  @ApiOkResponse({ type: ProviderNameDto })
  async update(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: WorkspaceQuery,
    @Body() dto: UpdateProviderDto,
  ): Promise<ProviderNameDto> {
    const reach = await this.reach(caller, query, dto.workspace_id);
    return ProviderNameDto.from(await this.providers.update(reach, slug, dto));
  }

  @Delete(':slug')
  @RequireScope('providers.delete')
  @ApiOperation({
    summary: 'Delete a provider',
    description:
      'Deletes the provider. Its integration is kept. Requests that name the provider are refused.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: WorkspaceQuery,
  ): Promise<DoneDto> {
    await this.providers.remove(await this.reach(caller, query), slug);
    return EMPTY_RESPONSE;
  }

  private reach(caller: Principal, query: WorkspaceQuery, inBody?: string): Promise<Reach> {
    return this.workspaces.narrowed(caller, inBody ?? query.workspace_id);
  }
}
