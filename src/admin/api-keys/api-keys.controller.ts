import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireOneOf, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import type { ApiKey } from './api-key.entity.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { LimitsService } from '../limits/limits.service.js';
import { checkRepeatedId } from '../http/repeated-id.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  CreateApiKeyDto,
  CreateWorkspaceServiceKeyDto,
  CreateWorkspaceUserKeyDto,
  RevokeApiKeysDto,
  UpdateApiKeyDto,
} from './api-key-bodies.dto.js';
import { ApiKeyDto, ApiKeyListDto, RevokedApiKeysDto } from './api-key.dto.js';
import { CreatedApiKeyDto } from './new-secret.dto.js';
import { ApiKeysService } from './api-keys.service.js';
import { ListKeysQuery, ReadKeyQuery } from './key-query.dto.js';
import { KeyListService } from './key-list.service.js';
import { KeyOwnerService } from './key-owner.service.js';
import { KeyUseService, type LastUse } from './key-use.service.js';

@AdminController('api-keys')
@Refusals()
export class ApiKeysController {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly keyList: KeyListService,
    private readonly workspaces: WorkspaceFinder,
    private readonly owners: KeyOwnerService,
    private readonly limits: LimitsService,
    private readonly keyUse: KeyUseService,
  ) {}

  @Post('organisation/service')
  @HttpCode(200)
  @RequireScope('organisation_service_api_keys.create')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Create an API key for the administration',
    description:
      'Creates a key for the administration of the whole organization. The response shows the secret once.',
  })
  @ApiOkResponse({ type: CreatedApiKeyDto })
  async createAdminKey(@Caller() caller: Principal, @Body() dto: CreateApiKeyDto): Promise<CreatedApiKeyDto> {
    this.owners.checkRepeated(caller, dto, 'organisation-service');
    const place = { kind: 'organisation-service', workspaceId: null, userId: null } as const;
    const { key, secret } = await this.apiKeys.create(caller, place, dto);
    return CreatedApiKeyDto.from(key, secret.reveal());
  }

  @Post('workspace/service')
  @HttpCode(200)
  @RequireScope('workspace_service_api_keys.create')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Create an API key for a service',
    description:
      'Creates a key that belongs to a workspace and to no user, for applications. The response shows the secret once.',
  })
  @ApiOkResponse({ type: CreatedApiKeyDto })
  async createServiceKey(
    @Caller() caller: Principal,
    @Body() dto: CreateWorkspaceServiceKeyDto,
  ): Promise<CreatedApiKeyDto> {
    this.owners.checkRepeated(caller, dto, 'workspace-service');
    const { workspaceId } = await this.workspaces.tenantFor(caller, dto.workspace_id);
    const place = { kind: 'workspace-service', workspaceId, userId: null } as const;
    const { key, secret } = await this.apiKeys.create(caller, place, dto);
    return CreatedApiKeyDto.from(key, secret.reveal());
  }

  @Post('workspace/user')
  @HttpCode(200)
  @RequireScope('workspace_user_api_keys.create')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Create an API key for a user',
    description:
      'Creates a key that belongs to a user in a workspace and cannot do more than the user. The response shows the secret once.',
  })
  @ApiOkResponse({ type: CreatedApiKeyDto })
  async createUserKey(
    @Caller() caller: Principal,
    @Body() dto: CreateWorkspaceUserKeyDto,
  ): Promise<CreatedApiKeyDto> {
    this.owners.checkRepeated(caller, dto, 'workspace-user');
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    const userId = await this.owners.userFor(caller, tenant, dto.user_id);
    const place = { kind: 'workspace-user', workspaceId: tenant.workspaceId, userId } as const;
    const { key, secret } = await this.apiKeys.create(caller, place, dto);
    return CreatedApiKeyDto.from(key, secret.reveal());
  }

  @Post('revoke')
  @HttpCode(200)
  @RequireOneOf(
    'organisation_service_api_keys.delete',
    'workspace_service_api_keys.delete',
    'workspace_user_api_keys.delete',
  )
  @ApiOperation({
    summary: 'Revoke several API keys',
    description: 'Requests with the keys are refused from now on. If one of them cannot be revoked, none is.',
  })
  @ApiOkResponse({ type: RevokedApiKeysDto })
  async revokeMany(
    @Caller() caller: Principal,
    @Body() { ids }: RevokeApiKeysDto,
  ): Promise<RevokedApiKeysDto> {
    return RevokedApiKeysDto.of(await this.apiKeys.revokeMany(caller, ids));
  }

  @Get()
  @RequireOneOf(
    'organisation_service_api_keys.list',
    'workspace_service_api_keys.list',
    'workspace_user_api_keys.list',
  )
  @ApiOperation({ summary: 'List API keys', description: 'Returns keys with masked secrets, newest first.' })
  @ApiOkResponse({ type: ApiKeyListDto })
  async list(@Caller() caller: Principal, @Query() query: ListKeysQuery): Promise<ApiKeyListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    const [keys, total] = await this.keyList.list(caller, reach, query, pageOf(query));
    const usage = await this.limits.usageOf(keys);
    return ApiKeyListDto.from({ keys, total, usage, lastUse: await this.lastUseOf(caller, query, keys) });
  }

  @Get(':id')
  @RequireOneOf(
    'organisation_service_api_keys.read',
    'workspace_service_api_keys.read',
    'workspace_user_api_keys.read',
  )
  @ApiOperation({
    summary: 'Read an API key',
    description: 'Returns the key with its limits and their use. The secret is masked.',
  })
  @ApiOkResponse({ type: ApiKeyDto })
  async get(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Query() query: ReadKeyQuery,
  ): Promise<ApiKeyDto> {
    const key = await this.apiKeys.get(caller, id);
    const usage = await this.limits.usageOf([key]);
    return ApiKeyDto.from(key, usage, await this.lastUseOf(caller, query, [key]));
  }

  @Put(':id')
  @RequireOneOf(
    'organisation_service_api_keys.update',
    'workspace_service_api_keys.update',
    'workspace_user_api_keys.update',
  )
  @RequireStepUp(
    'scopes',
    'expires_at',
    'rate_limits',
    'usage_limits',
    'reset_usage',
    'defaults',
    'alert_emails',
  )
  @ApiOperation({
    summary: 'Change an API key',
    description:
      'Changes the fields that are sent. The secret does not change.\n\nOnly users of at least the rank of the user on whose authority the key acts.',
  })
  @ApiOkResponse({ type: DoneDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateApiKeyDto,
  ): Promise<DoneDto> {
    checkRepeatedId('id', dto.id, id);
    await this.apiKeys.update(caller, id, dto);
    return EMPTY_RESPONSE;
  }

  @Delete(':id')
  @RequireOneOf(
    'organisation_service_api_keys.delete',
    'workspace_service_api_keys.delete',
    'workspace_user_api_keys.delete',
  )
  @ApiOperation({
    summary: 'Revoke an API key',
    description: 'Requests with the key are refused from now on. This cannot be undone.',
  })
  @ApiOkResponse({ type: DoneDto })
  async revoke(@Caller() caller: Principal, @Param('id') id: string): Promise<DoneDto> {
    await this.apiKeys.revoke(caller, id);
    return EMPTY_RESPONSE;
  }

  /** Undefined unless requested: most callers that list keys need no query of the counts. */
  private async lastUseOf(
    caller: Principal,
    query: ReadKeyQuery,
    keys: readonly ApiKey[],
  ): Promise<LastUse | undefined> {
    return query.include_last_used_at ? this.keyUse.lastUseOf(caller, keys) : undefined;
  }
}
