import { Body, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { AuditedAs, Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import type { LimitPolicy } from './limit-policy.entity.js';
import { pageOf } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { AdminController } from '../controllers/admin-controller.js';
import { checkOrganization } from '../http/own-organization.js';
import { budgetRule } from '../limits/limits.service.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { PoliciesService, type PolicyChange } from './policies.service.js';
import { PolicyEntityListDto } from './policy-entity.dto.js';
import {
  CreatedPolicyDto,
  CreateUsagePolicyDto,
  UpdateUsagePolicyDto,
  UsagePolicyDto,
  UsagePolicyListDto,
} from './policy.dto.js';
import { PolicyEntitiesService } from './policy-entities.service.js';
import {
  ListPolicyEntitiesQuery,
  ListUsagePoliciesQuery,
  policyFilterOf,
  ReadPolicyQuery,
} from './policy-query.dto.js';

@AdminController('policies/usage-limits', 'limits')
@Refusals()
export class UsagePoliciesController {
  constructor(
    private readonly policies: PoliciesService,
    private readonly entities: PolicyEntitiesService,
    private readonly workspaces: WorkspaceFinder,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('policies.create')
  @ApiOperation({
    summary: 'Create a budget for groups of requests',
    description:
      'Counts the requests that meet the conditions, by group, and refuses them at the end of the budget.',
  })
  @ApiOkResponse({ type: CreatedPolicyDto })
  async create(@Caller() caller: Principal, @Body() dto: CreateUsagePolicyDto): Promise<CreatedPolicyDto> {
    checkOrganization(caller, dto.organisation_id);
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    const rule = { budget: budgetRule(dto), rate: null };
    return CreatedPolicyDto.from(await this.policies.create(tenant, dto, rule));
  }

  @Get()
  @RequireScope('policies.list')
  @ApiOperation({
    summary: 'List budgets for groups of requests',
    description: 'Returns the budgets for groups of requests.',
  })
  @ApiOkResponse({ type: UsagePolicyListDto })
  async list(
    @Caller() caller: Principal,
    @Query() query: ListUsagePoliciesQuery,
  ): Promise<UsagePolicyListDto> {
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    return UsagePolicyListDto.from(
      ...(await this.policies.list(reach, 'budget', policyFilterOf(query), pageOf(query))),
    );
  }

  @Get(':id')
  @RequireScope('policies.read')
  @ApiOperation({
    summary: 'Read a budget for groups of requests',
    description: 'Returns one budget with its conditions.',
  })
  @ApiOkResponse({ type: UsagePolicyDto })
  async get(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Query() query: ReadPolicyQuery,
  ): Promise<UsagePolicyDto> {
    return UsagePolicyDto.from(await this.policies.get(reachOf(caller), 'budget', id, query.status ?? null));
  }

  @Put(':id')
  @RequireScope('policies.update')
  @ApiOperation({
    summary: 'Change a budget for groups of requests',
    description: 'Changes the fields that are sent.',
  })
  @ApiOkResponse({ type: DoneDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateUsagePolicyDto,
  ): Promise<DoneDto> {
    const changed = (policy: LimitPolicy) => changeOf(policy, dto);
    const policy = await this.policies.update(reachOf(caller), 'budget', id, changed);
    if (dto.reset_usage_for_value !== undefined) await this.resetOf(policy, dto.reset_usage_for_value);
    return EMPTY_RESPONSE;
  }

  @Delete(':id')
  @RequireScope('policies.delete')
  @ApiOperation({
    summary: 'Archive a budget for groups of requests',
    description: 'The budget no longer counts or refuses requests.',
  })
  @ApiOkResponse({ type: DoneDto })
  async archive(@Caller() caller: Principal, @Param('id') id: string): Promise<DoneDto> {
    await this.policies.archive(reachOf(caller), 'budget', id);
    return EMPTY_RESPONSE;
  }

  @Get(':id/entities')
  @RequireScope('policies.read')
  @ApiOperation({
    summary: 'List the counters of a budget',
    description: 'Returns one counter for each combination of values that occurred.',
  })
  @ApiOkResponse({ type: PolicyEntityListDto })
  async listEntities(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Query() query: ListPolicyEntitiesQuery,
  ): Promise<PolicyEntityListDto> {
    const policy = await this.policies.get(reachOf(caller), 'budget', id);
    const { status = null, search = null } = query;
    return PolicyEntityListDto.from(await this.entities.list(policy, { status, search }, pageOf(query)));
  }

  @Put(':id/entities/:entity/reset')
  @RequireScope('policies.update')
  @AuditedAs('policies.reset')
  @ApiOperation({
    summary: 'Reset a counter of a budget',
    description: 'Sets the use of one counter back to zero.',
  })
  @ApiOkResponse({ type: DoneDto })
  @ApiParam({ name: 'entity', description: 'Id of the counter, from the list of counters.' })
  async reset(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Param('entity') entity: string,
  ): Promise<DoneDto> {
    await this.resetOf(await this.policies.lock(reachOf(caller), 'budget', id), entity);
    return EMPTY_RESPONSE;
  }

  private async resetOf(policy: LimitPolicy, named: string): Promise<void> {
    await this.entities.reset(policy, named);
    await this.policies.noteReset(policy);
  }
}

/** Omitted fields stay unchanged. */
function changeOf({ budget }: LimitPolicy, dto: UpdateUsagePolicyDto): PolicyChange {
  if (!budget) throw new AppError('not_found', { resource: 'policy' });
  const { name, conditions } = dto;
  const rule = budgetRule(
    {
      credit_limit: dto.credit_limit ?? budget.credit_limit,
      type: budget.type,
      alert_threshold: dto.alert_threshold === undefined ? budget.alert_threshold : dto.alert_threshold,
      periodic_reset: dto.periodic_reset === undefined ? budget.periodic_reset : dto.periodic_reset,
      periodic_reset_days:
        dto.periodic_reset_days === undefined ? budget.periodic_reset_days : dto.periodic_reset_days,
      next_usage_reset_at: dto.next_usage_reset_at ?? null,
    },
    budget,
  );
  return {
    budget: rule,
    ...(name === undefined ? {} : { name }),
    ...(conditions === undefined ? {} : { conditions }),
  };
}
