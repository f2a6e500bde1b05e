import { Body, Delete, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals, Refuses } from '../openapi/decorators.js';
import { OrganizationJwtDto, SetOrganizationJwtDto } from './organization-jwt.dto.js';
import { OrganizationJwtService } from './organization-jwt.service.js';

@AdminController('admin/organisation/jwt', 'single-sign-on')
@Refusals()
export class OrganizationJwtController {
  constructor(private readonly jwt: OrganizationJwtService) {}

  @Get()
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'Read which signed tokens are accepted',
    description: 'Returns the accepted issuers and their keys.',
  })
  @ApiOkResponse({ type: OrganizationJwtDto })
  async get(@Caller() { organizationId }: Principal): Promise<OrganizationJwtDto> {
    return OrganizationJwtDto.from(await this.jwt.get(organizationId));
  }

  @Put()
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Set which signed tokens are accepted',
    description:
      'Requests can use tokens of these issuers in place of API keys.\n\nFor owners, and for admin keys of an owner with all admin scopes. Replacing a different set-up requires `If-Match`.',
  })
  @Refuses(
    new AppError('precondition_required', {
      detail: 'The set-up that accepts tokens of … would be replaced.',
    }),
    'A different set-up exists, and the request has no If-Match.',
  )
  @ApiOkResponse({ type: OrganizationJwtDto })
  async set(@Caller() caller: Principal, @Body() dto: SetOrganizationJwtDto): Promise<OrganizationJwtDto> {
    return OrganizationJwtDto.from(await this.jwt.set(caller, dto));
  }

  @Delete()
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Stop accepting signed tokens',
    description: 'Requests with signed tokens are refused from now on.',
  })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() caller: Principal): Promise<DoneDto> {
    await this.jwt.remove(caller);
    return EMPTY_RESPONSE;
  }
}
