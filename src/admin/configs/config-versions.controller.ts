import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { PageQuery } from '../http/page-query.dto.js';
import { Refusals } from '../openapi/decorators.js';
import { ConfigDiffDto, ConfigVersionListDto, SavedConfigDto, ShownConfigDto } from './config-answers.dto.js';
import { ConfigVersionsService } from './config-versions.service.js';
import { DiffConfigVersionsQuery } from './config-difference.dto.js';
import { RollBackDto, SaveConfigQuery } from './config.dto.js';
import { ConfigsService } from './configs.service.js';
import { differences } from '../../common/json/differences.js';

/** Earlier versions of a config, and rollbacks. */
@AdminController('configs')
@Refusals()
export class ConfigVersionsController {
  constructor(
    private readonly configs: ConfigsService,
    private readonly versions: ConfigVersionsService,
  ) {}

  @Get(':slug/versions')
  @RequireScope('configs.read')
  @ApiOperation({
    summary: 'List the versions of a routing config',
    description: 'Returns the versions with their documents, newest first.',
  })
  @ApiOkResponse({ type: ConfigVersionListDto })
  async list(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: PageQuery,
  ): Promise<ConfigVersionListDto> {
    const { config } = await this.versions.find(reachOf(caller), slug);
    return ConfigVersionListDto.of(config, ...(await this.versions.list(config, pageOf(query))));
  }

  @Get(':slug/versions/:version_id')
  @RequireScope('configs.read')
  @ApiOperation({
    summary: 'Read a version of a routing config',
    description: 'Returns one version with its document.',
  })
  @ApiOkResponse({ type: ShownConfigDto })
  async get(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Param('version_id') versionId: string,
  ): Promise<ShownConfigDto> {
    const { config } = await this.versions.find(reachOf(caller), slug);
    return ShownConfigDto.of(config, await this.versions.version(config, versionId));
  }

  @Get(':slug/diff')
  @RequireScope('configs.read')
  @ApiOperation({
    summary: 'Compare two versions of a routing config',
    description: 'Returns the differences of two documents as paths with old and new values.',
  })
  @ApiOkResponse({ type: ConfigDiffDto })
  async diff(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: DiffConfigVersionsQuery,
  ): Promise<ConfigDiffDto> {
    const { config, version } = await this.versions.find(reachOf(caller), slug);
    const { from, to } = query;
    const second = to === undefined ? version : await this.versions.version(config, to);
    const first = await (from === undefined
      ? this.versions.before(second)
      : this.versions.version(config, from));
    return ConfigDiffDto.of(first, second, differences(first.document, second.document));
  }

  @Post(':slug/rollback')
  @HttpCode(200)
  @RequireScope('configs.update')
  @ApiOperation({
    summary: 'Roll a routing config back',
    description: 'Saves the document of an earlier version as a new version, which is in force at once.',
  })
  @ApiOkResponse({ type: SavedConfigDto })
  async rollBack(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: SaveConfigQuery,
    @Body() { version_id }: RollBackDto,
  ): Promise<SavedConfigDto> {
    const reach = reachOf(caller);
    if (!query.dry_run)
      return SavedConfigDto.from(await this.configs.rollBack(caller, reach, slug, version_id));
    const before = await this.versions.find(reach, slug);
    const { document: restored } = await this.versions.version(before.config, version_id);
    const { document, changes } = await this.configs.dryRun(before.config, restored, before);
    return SavedConfigDto.ofDryRun(document, changes);
  }
}
