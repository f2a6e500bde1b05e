import { Body, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { OrganizationDto, UpdateOrganizationDto } from './organization.dto.js';
import { OrganizationsService } from './organizations.service.js';

@AdminController('admin/organisation')
@Refusals()
export class OrganizationsController {
  constructor(private readonly organizations: OrganizationsService) {}

  @Get()
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'Read the settings of the organization',
    description: 'Returns the settings that hold for all workspaces.',
  })
  @ApiOkResponse({ type: OrganizationDto })
  async get(@Caller() { organizationId }: Principal): Promise<OrganizationDto> {
    return OrganizationDto.from(await this.organizations.get(organizationId));
  }

  @Put()
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp(
    'security_settings',
    'input_guardrails',
    'output_guardrails',
    'log_bodies',
    'log_redaction',
    'log_retention_days',
    'body_retention_days',
    'strict_logging',
    'export_settings',
    'alert_webhook_url',
    'alert_webhook_secret',
  )
  @ApiOperation({
    summary: 'Change the settings of the organization',
    description: 'Changes the fields that are sent. Null restores a default.',
  })
  @ApiOkResponse({ type: OrganizationDto })
  async update(@Caller() caller: Principal, @Body() dto: UpdateOrganizationDto): Promise<OrganizationDto> {
    return OrganizationDto.from(await this.organizations.update(caller, dto));
  }
}
