import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { ListSecretReferencesQuery } from './secret-reference-query.dto.js';
import {
  CreatedSecretReferenceDto,
  CreateSecretReferenceDto,
  SecretReferenceDetailDto,
  SecretReferenceListDto,
  UpdateSecretReferenceDto,
} from './secret-reference.dto.js';
import { SecretReferencesService } from './secret-references.service.js';

@AdminController('secret-references')
@Refusals()
export class SecretReferencesController {
  constructor(private readonly references: SecretReferencesService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('secret_references.create', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Create a secret reference',
    description:
      'Stores where a secret is, and the credential for its secret manager, encrypted. The secret itself is read when it is used.',
  })
  @ApiOkResponse({ type: CreatedSecretReferenceDto })
  async create(
    @Caller() caller: Principal,
    @Body() dto: CreateSecretReferenceDto,
  ): Promise<CreatedSecretReferenceDto> {
    return CreatedSecretReferenceDto.from(await this.references.create(caller, dto));
  }

  @Get()
  @RequireScope('secret_references.list', 'administrators')
  @ApiOperation({
    summary: 'List secret references',
    description: 'Returns secret references without their credentials, newest first.',
  })
  @ApiOkResponse({ type: SecretReferenceListDto })
  async list(
    @Caller() { organizationId }: Principal,
    @Query() query: ListSecretReferencesQuery,
  ): Promise<SecretReferenceListDto> {
    return SecretReferenceListDto.from(...(await this.references.list(organizationId, query, pageOf(query))));
  }

  @Get(':id')
  @RequireScope('secret_references.read', 'administrators')
  @ApiOperation({
    summary: 'Read a secret reference',
    description: 'Returns the reference. Secret fields of `auth_config` are masked.',
  })
  @ApiOkResponse({ type: SecretReferenceDetailDto })
  async get(
    @Caller() { organizationId }: Principal,
    @Param('id') named: string,
  ): Promise<SecretReferenceDetailDto> {
    return SecretReferenceDetailDto.from(await this.references.get(organizationId, named));
  }

  @Put(':id')
  @RequireScope('secret_references.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Change a secret reference',
    description: 'Changes the fields that are sent. Gateway processes read the secret again at its next use.',
  })
  @ApiOkResponse({ type: DoneDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') named: string,
    @Body() dto: UpdateSecretReferenceDto,
  ): Promise<DoneDto> {
    await this.references.update(caller, named, dto);
    return EMPTY_RESPONSE;
  }

  @Delete(':id')
  @RequireScope('secret_references.delete', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Delete a secret reference',
    description: 'Deletes the reference, never the secret. It must not be in use.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() { organizationId }: Principal, @Param('id') named: string): Promise<DoneDto> {
    await this.references.remove(organizationId, named);
    return EMPTY_RESPONSE;
  }
}
