import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import type { LimitPolicy } from './limit-policy.entity.js';
import { pageOf } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { AdminController } from '../controllers/admin-controller.js';
import { checkOrganization } from '../http/own-organization.js';
import { rateRule } from '../limits/limits.service.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { PoliciesService, type PolicyChange } from './policies.service.js';
import {
  CreatedPolicyDto,
  CreateRatePolicyDto,
  RatePolicyDto,
  RatePolicyListDto,
  UpdateRatePolicyDto,
} from './policy.dto.js';
import { ListRatePoliciesQuery, policyFilterOf, ReadPolicyQuery } from './policy-query.dto.js';

@AdminController('policies/rate-limits', 'limits')
@Refusals()
export class RatePoliciesController {
  constructor(
    private readonly policies: PoliciesService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('policies.create')
  @ApiOperation({
    summary: 'Create a rate limit for groups of requests',
    description: 'Counts the requests that meet the conditions, by group, and refuses those above the limit.',
  })
  @ApiOkResponse({ type: CreatedPolicyDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateRatePolicyDto): Promise<CreatedPolicyDto> {
    checkOrganization(caller, dto.organisation_id);
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    const rule = { budget: null, rate: rateRule(dto, []) };
    return CreatedPolicyDto.from(await this.policies.create(tenant, dto, rule));
  }

  @Get()
  @RequireScope('policies.list')
  @ApiOperation({
    summary: 'List rate limits for groups of requests',
    description: 'Returns the rate limits for groups of requests.',
  })
  @ApiOkResponse({ type: RatePolicyListDto })
  async list(@Caller() caller: Principal, @Query() query: ListRatePoliciesQuery): Promise<RatePolicyListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    return RatePolicyListDto.from(
      ...(await this.policies.list(reach, 'rate', policyFilterOf(query), pageOf(query))),
    );
  }

  @Get(':id')
  @RequireScope('policies.read')
  @ApiOperation({
    summary: 'Read a rate limit for groups of requests',
    description: 'Returns one rate limit with its conditions.',
  })
  @ApiOkResponse({ type: RatePolicyDto })
  async get(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Query() query: ReadPolicyQuery,
  ): Promise<RatePolicyDto> {
    return RatePolicyDto.from(await this.policies.get(reachOf(caller), 'rate', id, query.status ?? null));
  }

  @Put(':id')
  @RequireScope('policies.update')
  @ApiOperation({
    summary: 'Change a rate limit for groups of requests',
    description: 'Changes the fields that are sent.',
  })
  @ApiOkResponse({ type: DoneDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateRatePolicyDto,
  ): Promise<DoneDto> {
    await this.policies.update(reachOf(caller), 'rate', id, (policy) => changeOf(policy, dto));
    return EMPTY_RESPONSE;
  }

  @Delete(':id')
  @RequireScope('policies.delete')
  @ApiOperation({
    summary: 'Archive a rate limit for groups of requests',
    description: 'The rate limit no longer counts or refuses requests.',
  })
  @ApiOkResponse({ type: DoneDto })
  async archive(@Caller() caller: Principal, @Param('id') id: string): Promise<DoneDto> {
    await this.policies.archive(reachOf(caller), 'rate', id);
    return EMPTY_RESPONSE;
  }
}

/** Omitted fields stay unchanged. */
function changeOf({ rate }: LimitPolicy, dto: UpdateRatePolicyDto): PolicyChange {
  if (!rate) throw new AppError('not_found', { resource: 'policy' });
  const { name, conditions, unit, value, on_store_failure } = dto;
  const changed = {
    type: rate.type,
    unit: unit ?? rate.unit,
    value: value ?? rate.value,
    on_store_failure: on_store_failure ?? rate.on_store_failure,
  };
  return {
    rate: rateRule(changed, [rate]),
    ...(name === undefined ? {} : { name }),
    ...(conditions === undefined ? {} : { conditions }),
  };
}
