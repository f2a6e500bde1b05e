import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { PageQuery } from '../http/page-query.dto.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import {
  AuditDestinationDto,
  AuditDestinationListDto,
  CreateAuditDestinationDto,
  UpdateAuditDestinationDto,
} from './audit-destination.dto.js';
import { AuditDestinationsService } from './audit-destinations.service.js';

@AdminController('audit-logs/destinations')
@Refusals()
export class AuditDestinationsController {
  constructor(private readonly destinations: AuditDestinationsService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Create an audit destination',
    description: 'Sends every new record to the destination, in order and at least once.',
  })
  @ApiOkResponse({ type: AuditDestinationDto })
  create(
    @Caller() { organizationId }: Principal,
    @Body() dto: CreateAuditDestinationDto,
  ): Promise<AuditDestinationDto> {
    return this.destinations.create(organizationId, dto);
  }

  @Get()
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'List audit destinations',
    description: 'Returns the destinations with the state of their deliveries.',
  })
  @ApiOkResponse({ type: AuditDestinationListDto })
  list(@Caller() { organizationId }: Principal, @Query() query: PageQuery): Promise<AuditDestinationListDto> {
    return this.destinations.list(organizationId, pageOf(query));
  }

  @Get(':id')
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({
    summary: 'Read an audit destination',
    description: 'Returns one destination with the state of its deliveries.',
  })
  @ApiOkResponse({ type: AuditDestinationDto })
  get(@Caller() { organizationId }: Principal, @Param('id') id: string): Promise<AuditDestinationDto> {
    return this.destinations.get(organizationId, id);
  }

  @Put(':id')
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Change an audit destination',
    description: 'Changes the fields that are sent. Delivery is retried at once.',
  })
  @ApiOkResponse({ type: AuditDestinationDto })
  update(
    @Caller() { organizationId }: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateAuditDestinationDto,
  ): Promise<AuditDestinationDto> {
    return this.destinations.update(organizationId, id, dto);
  }

  @Delete(':id')
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({ summary: 'Delete an audit destination', description: 'Records are no longer sent there.' })
  @ApiOkResponse({ type: DoneDto })
  async remove(@Caller() { organizationId }: Principal, @Param('id') id: string): Promise<DoneDto> {
    await this.destinations.remove(organizationId, id);
    return EMPTY_RESPONSE;
  }
}
