import { Body, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import { RequireStepUp } from '../../auth/permissions/step-up.guard.js';
import type { Principal } from '../../auth/principal.js';
import { pageOf } from '../../common/http/page.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import {
  CreateLegalHoldDto,
  LegalHoldDto,
  LegalHoldListDto,
  ListLegalHoldsQuery,
  ReleaseLegalHoldDto,
} from './legal-hold.dto.js';
import { LegalHoldsService } from './legal-holds.service.js';

@AdminController('admin/legal-holds', 'audit-logs')
@Refusals()
export class LegalHoldsController {
  constructor(private readonly holds: LegalHoldsService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('organisation_settings.update', 'administrators')
  @ApiOperation({
    summary: 'Place a legal hold',
    description:
      'Keeps the request log of a workspace, or of the whole organization, from being deleted by retention.',
  })
  @ApiOkResponse({ type: LegalHoldDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateLegalHoldDto): Promise<LegalHoldDto> {
    return LegalHoldDto.from(await this.holds.create(caller, dto));
  }

  @Get()
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({ summary: 'List legal holds', description: 'Returns legal holds, released ones included.' })
  @ApiOkResponse({ type: LegalHoldListDto })
  async list(
    @Caller() { organizationId }: Principal,
    @Query() query: ListLegalHoldsQuery,
  ): Promise<LegalHoldListDto> {
    return LegalHoldListDto.from(...(await this.holds.list(organizationId, query.status, pageOf(query))));
  }

  @Get(':id')
  @RequireScope('organisation_settings.read', 'administrators')
  @ApiOperation({ summary: 'Read a legal hold', description: 'Returns one legal hold.' })
  @ApiOkResponse({ type: LegalHoldDto })
  async get(@Caller() { organizationId }: Principal, @Param('id') id: string): Promise<LegalHoldDto> {
    return LegalHoldDto.from(await this.holds.get(organizationId, id));
  }

  @Post(':id/release')
  @HttpCode(200)
  @RequireScope('organisation_settings.update', 'administrators')
  @RequireStepUp()
  @ApiOperation({
    summary: 'Release a legal hold',
    description: 'Retention applies to the logs again, unless another hold covers them.',
  })
  @ApiOkResponse({ type: LegalHoldDto })
  async release(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: ReleaseLegalHoldDto,
  ): Promise<LegalHoldDto> {
    return LegalHoldDto.from(await this.holds.release(caller, id, dto));
  }
}
