import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { type ListQuery, pageOf, parameterOf } from '../../common/http/page.js';
import { AdminController } from '../admin-controller.js';
import { PagedQuery, QueryParameter, Refusals } from '../openapi/decorators.js';
import { ConfigDiffDto, ConfigVersionListDto, SavedConfigDto, ShownConfigDto } from './config-answers.dto.js';
import { ConfigVersionsService } from './config-versions.service.js';
import { RollBackDto } from './config.dto.js';
import { ConfigsService } from './configs.service.js';
import { isRehearsal, MayBeRehearsed } from './rehearsals.js';
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
  @ApiOperation({ summary: 'List the versions of a routing config' })
  @PagedQuery()
  @ApiOkResponse({ type: ConfigVersionListDto })
  async list(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: ListQuery,
  ): Promise<ConfigVersionListDto> {
    const { config } = await this.versions.find(reachOf(caller), slug);
    return ConfigVersionListDto.of(config, ...(await this.versions.list(config, pageOf(query))));
  }

  @Get(':slug/versions/:version_id')
  @RequireScope('configs.read')
  @ApiOperation({ summary: 'Read a version of a routing config' })
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
  @ApiOperation({ summary: 'Compare two versions of a routing config' })
  @QueryParameter({
    name: 'from',
    required: false,
    type: String,
    description: 'Id; that before the other where it is left out',
  })
  @QueryParameter({
    name: 'to',
    required: false,
    type: String,
    description: 'Id; that in force where it is left out',
  })
  @ApiOkResponse({ type: ConfigDiffDto })
  async diff(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: ListQuery,
  ): Promise<ConfigDiffDto> {
    const { config, version } = await this.versions.find(reachOf(caller), slug);
    const [from, to] = [parameterOf(query, 'from'), parameterOf(query, 'to')];
    const second = to === undefined ? version : await this.versions.version(config, to);
    const first = await (from === undefined
      ? this.versions.before(second)
      : this.versions.version(config, from));
    return ConfigDiffDto.of(first, second, differences(first.document, second.document));
  }

  @Post(':slug/rollback')
  @HttpCode(200)
  @RequireScope('configs.update')
  @ApiOperation({ summary: 'Roll a routing config back' })
  @MayBeRehearsed()
  @ApiOkResponse({ type: SavedConfigDto })
  async rollBack(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: ListQuery,
    @Body() { version_id }: RollBackDto,
  ): Promise<SavedConfigDto> {
    const reach = reachOf(caller);
    if (!isRehearsal(query))
      return SavedConfigDto.from(await this.configs.rollBack(caller, reach, slug, version_id));
    const before = await this.versions.find(reach, slug);
    const { document: wanted } = await this.versions.version(before.config, version_id);
    const { document, changes } = await this.configs.rehearse(before.config, wanted, before);
    return SavedConfigDto.rehearsed(document, changes);
  }
}
