import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { ConfigUsageService } from './config-usage.service.js';
import { ConfigListDto, ConfigUsageDto, SavedConfigDto, ShownConfigDto } from './config-answers.dto.js';
import { ConfigVersionsService } from './config-versions.service.js';
import { CreateConfigDto, SaveConfigQuery, UpdateConfigDto } from './config.dto.js';
import { ConfigsService } from './configs.service.js';
import { SimulateConfigDto, SimulationDto } from './simulation.dto.js';
import { SimulationService } from './simulation.service.js';

@AdminController('configs')
@Refusals()
export class ConfigsController {
  constructor(
    private readonly configs: ConfigsService,
    private readonly versions: ConfigVersionsService,
    private readonly simulation: SimulationService,
    private readonly usage: ConfigUsageService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('configs.create')
  @ApiOperation({
    summary: 'Create a routing config',
    description: 'Checks and saves a routing document as the first version of a config.',
  })
  @ApiOkResponse({ type: SavedConfigDto })
  async create(
    @Caller() caller: Principal,
    @Query() query: SaveConfigQuery,
    @Body() dto: CreateConfigDto,
  ): Promise<SavedConfigDto> {
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    if (!query.dry_run) return SavedConfigDto.from(await this.configs.create(caller, tenant, dto));
    const { document, changes } = await this.configs.dryRun(tenant, dto.config);
    return SavedConfigDto.ofDryRun(document, changes);
  }

  @Get()
  @RequireScope('configs.list')
  @ApiOperation({
    summary: 'List routing configs',
    description: 'Returns configs without their documents, newest first.',
  })
  @ApiOkResponse({ type: ConfigListDto })
  async list(@Caller() caller: Principal, @Query() query: WorkspacePageQuery): Promise<ConfigListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    return ConfigListDto.from(...(await this.configs.list(reach, pageOf(query))));
  }

  @Post('simulate')
  @HttpCode(200)
  @RequireScope('configs.read')
  @ApiOperation({
    summary: 'Simulate a routing config',
    description:
      'Explains which targets a request would try, in which order and why. Nothing is sent to a provider.',
  })
  @ApiOkResponse({ type: SimulationDto })
  simulate(@Caller() caller: Principal, @Body() dto: SimulateConfigDto): Promise<SimulationDto> {
    return this.simulation.simulate(caller, dto);
  }

  @Get(':slug')
  @RequireScope('configs.read')
  @ApiOperation({
    summary: 'Read a routing config',
    description: 'Returns the config with the document in force.',
  })
  @ApiOkResponse({ type: ShownConfigDto })
  async get(@Caller() caller: Principal, @Param('slug') slug: string): Promise<ShownConfigDto> {
    const { config, version } = await this.versions.find(reachOf(caller), slug);
    return ShownConfigDto.of(config, version);
  }

  @Get(':slug/usage')
  @RequireScope('configs.read')
  @ApiOperation({
    summary: 'Read where a routing config is used',
    description: 'Returns the API keys and workspaces that use the config by default.',
  })
  @ApiOkResponse({ type: ConfigUsageDto })
  async usedBy(@Caller() caller: Principal, @Param('slug') slug: string): Promise<ConfigUsageDto> {
    const { config } = await this.versions.find(reachOf(caller), slug);
    return ConfigUsageDto.of(config, await this.usage.of(config));
  }

  @Put(':slug')
  @RequireScope('configs.update')
  @ApiOperation({
    summary: 'Change a routing config',
    description:
      'Changes the fields that are sent. Another document makes a new version, which is in force at once.',
  })
  @ApiOkResponse({ type: SavedConfigDto })
  async update(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: SaveConfigQuery,
    @Body() dto: UpdateConfigDto,
  ): Promise<SavedConfigDto> {
    const reach = reachOf(caller);
    if (!query.dry_run) return SavedConfigDto.from(await this.configs.update(caller, reach, slug, dto));
    const before = await this.versions.find(reach, slug);
    const { document, changes } = await this.configs.dryRun(before.config, dto.config, before);
    return SavedConfigDto.ofDryRun(document, changes);
  }

  @Delete(':slug')
  @RequireScope('configs.delete')
  @ApiOperation({
    summary: 'Delete a routing config',
    description: 'Deletes the config and all its versions. Requests that name it are refused.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() caller: Principal, @Param('slug') slug: string): Promise<DoneDto> {
    await this.configs.remove(reachOf(caller), slug);
    return EMPTY_RESPONSE;
  }
}
