import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { LimitsService } from '../limits/limits.service.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  CopyVirtualKeyDto,
  CreateVirtualKeyDto,
  DuplicateVirtualKeyDto,
  UpdateVirtualKeyDto,
} from './virtual-key-bodies.dto.js';
import { CreatedVirtualKeyDto, VirtualKeyDto, VirtualKeyListDto } from './virtual-key.dto.js';
import { VirtualKeysService } from './virtual-keys.service.js';

@AdminController('virtual-keys')
@Refusals()
export class VirtualKeysController {
  constructor(
    private readonly virtualKeys: VirtualKeysService,
    private readonly workspaces: WorkspaceFinder,
    private readonly limits: LimitsService,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('virtual_keys.create')
  @ApiOperation({
    summary: 'Create a virtual key',
    description: 'Stores the credential encrypted. Requests can name the slug at once.',
  })
  @ApiOkResponse({ type: CreatedVirtualKeyDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateVirtualKeyDto): Promise<CreatedVirtualKeyDto> {
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    return CreatedVirtualKeyDto.from(await this.virtualKeys.create(caller, tenant, dto));
  }

  @Get()
  @RequireScope('virtual_keys.list')
  @ApiOperation({
    summary: 'List virtual keys',
    description: 'Returns virtual keys without their credentials, newest first.',
  })
  @ApiOkResponse({ type: VirtualKeyListDto })
  async list(@Caller() caller: Principal, @Query() query: WorkspacePageQuery): Promise<VirtualKeyListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    const [keys, total] = await this.virtualKeys.list(reach, pageOf(query));
    return VirtualKeyListDto.from(keys, total, await this.limits.usageOf(keys));
  }

  @Get(':slug')
  @RequireScope('virtual_keys.read')
  @ApiOperation({
    summary: 'Read a virtual key',
    description: 'Returns the virtual key with its limits and their use, without its credential.',
  })
  @ApiOkResponse({ type: VirtualKeyDto })
  async get(@Caller() caller: Principal, @Param('slug') slug: string): Promise<VirtualKeyDto> {
    const key = await this.virtualKeys.get(reachOf(caller), slug);
    return VirtualKeyDto.from(key, await this.limits.usageOf([key]));
  }

  @Put(':slug')
  @RequireScope('virtual_keys.update')
  @ApiOperation({
    summary: 'Change a virtual key',
    description: 'Changes the fields that are sent. Running requests continue with the old credential.',
  })
  @ApiOkResponse({ type: DoneDto })
  async update(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Body() dto: UpdateVirtualKeyDto,
  ): Promise<DoneDto> {
    await this.virtualKeys.update(caller, slug, dto);
    return EMPTY_RESPONSE;
  }

  @Post(':slug/duplicate')
  @HttpCode(200)
  @RequireScope('virtual_keys.duplicate')
  @ApiOperation({
    summary: 'Duplicate a virtual key',
    description: 'Creates a virtual key with the same credential and settings, under another slug.',
  })
  @ApiOkResponse({ type: CreatedVirtualKeyDto })
  async duplicate(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Body() dto: DuplicateVirtualKeyDto,
  ): Promise<CreatedVirtualKeyDto> {
    return CreatedVirtualKeyDto.from(await this.virtualKeys.copy(reachOf(caller), slug, dto));
  }

  @Post(':slug/copy')
  @HttpCode(200)
  @RequireScope('virtual_keys.copy')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Copy a virtual key to another workspace',
    description: 'Creates a virtual key with the same credential and settings in another workspace.',
  })
  @ApiOkResponse({ type: CreatedVirtualKeyDto })
  async copy(
    @Caller() caller: Principal,
    @Param('slug') slug: string,
    @Body() dto: CopyVirtualKeyDto,
  ): Promise<CreatedVirtualKeyDto> {
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    return CreatedVirtualKeyDto.from(await this.virtualKeys.copy(reachOf(caller), slug, dto, tenant));
  }

  @Delete(':slug')
  @RequireScope('virtual_keys.delete')
  @ApiOperation({
    summary: 'Delete a virtual key',
    description: 'Deletes the virtual key and its credential. Requests that name it are refused.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() caller: Principal, @Param('slug') slug: string): Promise<DoneDto> {
    await this.virtualKeys.remove(reachOf(caller), slug);
    return EMPTY_RESPONSE;
  }
}
