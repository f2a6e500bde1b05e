import { Body, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireOneOf } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { PageQuery } from '../http/page-query.dto.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { IntegrationAccessService } from './integration-access.service.js';
import { IntegrationModelsDto, RemoveModelsQuery, UpdateModelsDto } from './integration-models.dto.js';
import { IntegrationModelsService } from './integration-models.service.js';
import { IntegrationWorkspacesDto, UpdateAccessDto } from './integration-workspaces.dto.js';

/** The models and workspaces that can use an integration. */
@AdminController('integrations')
@Refusals()
export class IntegrationPartsController {
  constructor(
    private readonly models: IntegrationModelsService,
    private readonly access: IntegrationAccessService,
  ) {}

  @Get(':slug/models')
  @RequireOneOf('organisation_integrations.read', 'workspace_integrations.read')
  @ApiOperation({
    summary: 'List the models of an integration',
    description: 'Returns the models with their prices and whether each may be used.',
  })
  @ApiOkResponse({ type: IntegrationModelsDto })
  async listModels(@Caller() caller: Principal, @Param('slug') slug: string): Promise<IntegrationModelsDto> {
    return this.models.list(caller, slug);
  }

  @Put(':slug/models')
  @RequireOneOf('organisation_integrations.update', 'workspace_integrations.update')
  @ApiOperation({
    summary: 'Change the models of an integration',
    description: 'Changes the models that are sent. Others keep their settings.',
  })
  @ApiOkResponse({ type: DoneDto })
  async updateModels(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Body() dto: UpdateModelsDto,
  ): Promise<DoneDto> {
    await this.models.update(caller, slug, dto);
    return EMPTY_RESPONSE;
  }

  @Delete(':slug/models')
  @RequireOneOf('organisation_integrations.update', 'workspace_integrations.update')
  @ApiOperation({
    summary: 'Reset models of an integration',
    description: 'Restores the defaults of the integration for these models.',
  })
  @ApiOkResponse({ type: DoneDto })
  async removeModels(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() { slugs }: RemoveModelsQuery,
  ): Promise<DoneDto> {
    await this.models.remove(caller, slug, slugs);
    return EMPTY_RESPONSE;
  }

  @Get(':slug/workspaces')
  @RequireOneOf('organisation_integrations.read', 'workspace_integrations.read')
  @ApiOperation({
    summary: 'List the workspaces of an integration',
    description: 'Returns the workspaces and whether each may use the integration.',
  })
  @ApiOkResponse({ type: IntegrationWorkspacesDto })
  async listWorkspaces(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Query() query: PageQuery,
  ): Promise<IntegrationWorkspacesDto> {
    return IntegrationWorkspacesDto.from(...(await this.access.list(caller, slug, pageOf(query))));
  }

  @Put(':slug/workspaces')
  @RequireOneOf('organisation_integrations.update', 'workspace_integrations.update')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Change the workspaces of an integration',
    description: 'Changes the access of the workspaces that are sent. Others keep theirs.',
  })
  @ApiOkResponse({ type: DoneDto })
  async updateWorkspaces(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Body() dto: UpdateAccessDto,
  ): Promise<DoneDto> {
    await this.access.update(caller, slug, dto);
    return EMPTY_RESPONSE;
  }
}
