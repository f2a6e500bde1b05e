import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireOneOf } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  CreatedIntegrationDto,
  CreateIntegrationDto,
  IntegrationDetailDto,
  IntegrationListDto,
  ListIntegrationsQuery,
  UpdateIntegrationDto,
} from './integration.dto.js';
import { DefaultProviders } from './default-providers.js';
import { IntegrationsService } from './integrations.service.js';

@AdminController('integrations')
@Refusals()
export class IntegrationsController {
  constructor(
    private readonly integrations: IntegrationsService,
    private readonly workspaces: WorkspaceFinder,
    private readonly providers: DefaultProviders,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireOneOf('organisation_integrations.create', 'workspace_integrations.create')
  @ApiOperation({
    summary: 'Create an integration',
    description: 'Stores the credential encrypted. Workspaces with access use it through a provider.',
  })
  @ApiOkResponse({ type: CreatedIntegrationDto })
  async create(
    @Caller() caller: Principal,
    @Body() dto: CreateIntegrationDto,
  ): Promise<CreatedIntegrationDto> {
    const workspace = await this.workspaces.ownOrNamed(caller, dto.workspace_id);
    const integration = await this.integrations.create(caller, workspace?.id ?? null, dto);
    if (workspace && dto.create_default_provider !== false)
      await this.providers.make(integration, [workspace], dto.default_provider_slug);
    return CreatedIntegrationDto.from(integration);
  }

  @Get()
  @RequireOneOf('organisation_integrations.list', 'workspace_integrations.list')
  @ApiOperation({
    summary: 'List integrations',
    description: 'Returns integrations without their credentials, newest first.',
  })
  @ApiOkResponse({ type: IntegrationListDto })
  async list(
    @Caller() caller: Principal,
    @Query() query: ListIntegrationsQuery,
  ): Promise<IntegrationListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    const integrations = await this.integrations.list(caller, reach, query.type, pageOf(query));
    return IntegrationListDto.from(...integrations);
  }

  @Get(':slug')
  @RequireOneOf('organisation_integrations.read', 'workspace_integrations.read')
  @ApiOperation({
    summary: 'Read an integration',
    description: 'Returns the integration with its access settings, without its credential.',
  })
  @ApiOkResponse({ type: IntegrationDetailDto })
  async get(@Caller() caller: Principal, @Param('slug') slug: string): Promise<IntegrationDetailDto> {
    return IntegrationDetailDto.from(await this.integrations.get(caller, slug));
  }

  @Put(':slug')
  @RequireOneOf('organisation_integrations.update', 'workspace_integrations.update')
  @ApiOperation({ summary: 'Change an integration', description: 'Changes the fields that are sent.' })
  @ApiOkResponse({ type: DoneDto })
  async update(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Body() dto: UpdateIntegrationDto,
  ): Promise<DoneDto> {
    await this.integrations.update(caller, slug, dto);
    return EMPTY_RESPONSE;
  }

  @Delete(':slug')
  @RequireOneOf('organisation_integrations.delete', 'workspace_integrations.delete')
  @ApiOperation({
    summary: 'Delete an integration',
    description:
      'Deletes the integration, its credential and its providers. Requests that name these are refused.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() caller: Principal, @Param('slug') slug: string): Promise<DoneDto> {
    await this.integrations.remove(caller, slug);
    return EMPTY_RESPONSE;
  }
}
