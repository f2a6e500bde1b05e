import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { checkOrganization } from '../http/own-organization.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  CreateGuardrailDto,
  GuardrailDto,
  GuardrailListDto,
  ListGuardrailsQuery,
  SavedGuardrailDto,
  UpdateGuardrailDto,
} from './guardrail.dto.js';
import { GuardrailsService, type GuardrailScope } from './guardrails.service.js';
import { AppError } from '../../common/errors/app-error.js';

const GuardrailParameter = ApiParam({ name: 'guardrail', description: 'Id or slug of the guardrail.' });

@AdminController('guardrails')
@Refusals()
export class GuardrailsController {
  constructor(
    private readonly guardrails: GuardrailsService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('guardrails.create')
  @ApiOperation({
    summary: 'Create a guardrail',
    description: 'Configs and defaults can name the guardrail at once.',
  })
  @ApiOkResponse({ type: SavedGuardrailDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateGuardrailDto): Promise<SavedGuardrailDto> {
    const place = await placeFor(caller, dto, this.workspaces);
    return SavedGuardrailDto.from(await this.guardrails.create(caller, place, dto));
  }

  @Get()
  @RequireScope('guardrails.list')
  @ApiOperation({
    summary: 'List guardrails',
    description: 'Returns guardrails without their checks, newest first.',
  })
  @ApiOkResponse({ type: GuardrailListDto })
  async list(@Caller() caller: Principal, @Query() query: ListGuardrailsQuery): Promise<GuardrailListDto> {
    checkOrganization(caller, query.organisation_id);
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    return GuardrailListDto.from(...(await this.guardrails.list(reach, pageOf(query))));
  }

  @Get(':guardrail')
  @RequireScope('guardrails.read')
  @ApiOperation({
    summary: 'Read a guardrail',
    description: 'Returns the guardrail with its checks. Secrets in their parameters are masked.',
  })
  @ApiOkResponse({ type: GuardrailDto })
  @GuardrailParameter
  async get(@Caller() caller: Principal, @Param('guardrail') named: string): Promise<GuardrailDto> {
    return GuardrailDto.from(await this.guardrails.get(caller, named));
  }

  @Put(':guardrail')
  @RequireScope('guardrails.update')
  @ApiOperation({
    summary: 'Change a guardrail',
    description: 'Changes the fields that are sent. Requests that arrive from now on are checked by it.',
  })
  @ApiOkResponse({ type: SavedGuardrailDto })
  @GuardrailParameter
  async update(
    @Caller() caller: Principal,
    @Param('guardrail') named: string,
    @Body() dto: UpdateGuardrailDto,
  ): Promise<SavedGuardrailDto> {
    return SavedGuardrailDto.from(await this.guardrails.update(caller, named, dto));
  }

  @Delete(':guardrail')
  @RequireScope('guardrails.delete')
  @ApiOperation({
    summary: 'Delete a guardrail',
    description: 'Deletes the guardrail. A guardrail that is in use cannot be deleted.',
  })
  @ApiOkResponse({ type: DoneDto })
  @GuardrailParameter
  async remove(@Caller() caller: Principal, @Param('guardrail') named: string): Promise<DoneDto> {
    await this.guardrails.remove(caller, named);
    return EMPTY_RESPONSE;
  }
}

/** The named workspace, the caller's own, or with `organisation_id` the whole organization. */
async function placeFor(
  caller: Principal,
  { workspace_id, organisation_id }: CreateGuardrailDto,
  workspaces: WorkspaceFinder,
): Promise<GuardrailScope> {
  if (organisation_id === undefined || workspace_id !== undefined)
    return workspaces.tenantFor(caller, workspace_id);
  const { organizationId } = caller;
  if (organisation_id.toLowerCase() !== organizationId)
    throw new AppError('not_found', { resource: 'organization' });
  return { organizationId, workspaceId: null };
}
