import { Body, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import {
  CreateIdentityProviderDto,
  IdentityProviderDto,
  IdentityProviderListDto,
  UpdateIdentityProviderDto,
} from './identity-provider.dto.js';
import { IdentityProvidersService } from './identity-providers.service.js';
import { LinkedAccountsService } from './linked-accounts.service.js';

@AdminController('admin/organisation/identity-providers', 'single-sign-on')
@Refusals()
export class IdentityProvidersController {
  constructor(
    private readonly providers: IdentityProvidersService,
    private readonly accounts: LinkedAccountsService,
  ) {}

  @Get()
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'List identity providers',
    description: 'Returns identity providers without their secrets.',
  })
  @ApiOkResponse({ type: IdentityProviderListDto })
  async list(@Caller() { organizationId }: Principal): Promise<IdentityProviderListDto> {
    return IdentityProviderListDto.of(await this.providers.list(organizationId));
  }

  @Get(':id')
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'Read an identity provider',
    description: 'Returns one identity provider without its secret.',
  })
  @ApiOkResponse({ type: IdentityProviderDto })
  get(@Caller() { organizationId }: Principal, @Param('id') id: string): Promise<IdentityProviderDto> {
    return this.providers.get(organizationId, id);
  }

  @Post()
  @HttpCode(200)
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Create an identity provider',
    description:
      'Stores the settings of an OpenID Connect provider. Only owners may. Users can sign in at once.',
  })
  @ApiOkResponse({ type: IdentityProviderDto })
  create(@Caller() caller: Principal, @Body() dto: CreateIdentityProviderDto): Promise<IdentityProviderDto> {
    return this.providers.create(caller, dto);
  }

  @Put(':id')
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Change an identity provider',
    description: 'Changes the fields that are sent. Only owners may.',
  })
  @ApiOkResponse({ type: IdentityProviderDto })
  update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateIdentityProviderDto,
  ): Promise<IdentityProviderDto> {
    return this.providers.update(caller, id, dto);
  }

  @Delete(':id')
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Delete an identity provider',
    description: 'Deletes the identity provider and ends the sessions from it. Only owners may.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() caller: Principal, @Param('id') id: string): Promise<DoneDto> {
    await this.providers.remove(caller, id);
    return EMPTY_RESPONSE;
  }

  @Delete(':id/accounts/:userId')
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Unlink an account at an identity provider',
    description: 'The user can no longer sign in with this account. Only owners may.',
  })
  @ApiOkResponse({ type: DoneDto })
  async unlink(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('userId') userId: string,
  ): Promise<DoneDto> {
    await this.accounts.unlink(caller, id, userId);
    return EMPTY_RESPONSE;
  }
}
