import {
  ApiProperty,
  ApiPropertyOptional,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, Length } from 'class-validator';
import type { LimitPolicy } from './limit-policy.entity.js';
import { IfGiven, IsName, rule, NestedList } from '../../common/http/validators.js';
import {
  type BudgetRule,
  type RateRule,
  POLICY_KEYS,
  type PolicyCondition,
  type PolicyKey,
} from '../../common/limits/rules.js';
import {
  ApiId,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  ApiMomentOrNull,
  MayTakeOrganization,
  MayTakeWorkspace,
} from '../dto-fields/fields.js';
import {
  RateLimitDto,
  ShownRateLimitDto,
  ShownUsageLimitsDto,
  UsageLimitsDto,
} from '../dto-fields/limit.dto.js';
import { budgetWithoutUse, shownRate } from '../limits/limits.service.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { Audited } from '../dto-fields/audited.js';

const MOST_CONDITIONS = 10;
const MOST_VALUES = 100;
const LONGEST_VALUE = 256;
const METADATA_KEY = /^metadata\.[\w.-]{1,128}$/;

const IsPolicyKey = (): PropertyDecorator =>
  rule(
    'isPolicyKey',
    `it must be ${POLICY_KEYS.join(', ')} or metadata.<key>`,
    (value) =>
      typeof value === 'string' && (POLICY_KEYS.some((key) => key === value) || METADATA_KEY.test(value)),
    { pattern: `^(?:${POLICY_KEYS.join('|')}|metadata\\.[\\w.-]{1,128})$` },
  );

const VALUE = { type: 'string' as const, minLength: 1, maxLength: LONGEST_VALUE };

const isValue = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= LONGEST_VALUE;

const IsValueOrValues = (): PropertyDecorator =>
  rule('isValueOrValues', `it must be a string or a list of 1 to ${MOST_VALUES} strings`, (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.length <= MOST_VALUES && value.every(isValue)
      : isValue(value),
  );

class ConditionDto {
  @ApiProperty({
    description: 'Property of the request, such as `model` or `metadata.team`.',
    type: String,
    example: 'metadata.team',
  })
  @IsPolicyKey()
  readonly key: PolicyKey;

  @ApiProperty({
    description: 'Value, or list of values, of which one must match. `*` matches every value.',
    oneOf: [VALUE, { type: 'array', items: VALUE, minItems: 1, maxItems: MOST_VALUES }],
    example: 'search',
  })
  @IsValueOrValues()
  readonly value: string | string[];
}

class GroupDto {
  @ApiProperty({
    description: 'Property of the request, such as `api_key` or `metadata._user`.',
    type: String,
    example: 'metadata._user',
  })
  @IsPolicyKey()
  readonly key: PolicyKey;
}

/** The requests that a policy applies to, its grouping, and its workspace. */
class PolicyFieldsDto {
  @Audited()
  @ApiPropertyOptional({
    description: 'Name of the budget or rate limit.',
    example: 'Users of the search team',
  })
  @IfGiven()
  @IsName()
  readonly name?: string;

  @ApiProperty({
    description: 'Conditions under which a request counts. All of them must hold. 1 to 10.',
    type: [ConditionDto],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_CONDITIONS)
  @NestedList(() => ConditionDto)
  readonly conditions: ConditionDto[];

  @ApiProperty({
    description:
      'Properties by which requests are counted apart: each combination of values has a counter of its own.',
    type: [GroupDto],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_CONDITIONS)
  @NestedList(() => GroupDto)
  readonly group_by: GroupDto[];

  @MayTakeWorkspace()
  readonly workspace_id?: string;

  @MayTakeOrganization()
  readonly organisation_id?: string;
}

export class CreateUsagePolicyDto extends IntersectionType(PolicyFieldsDto, UsageLimitsDto) {}

export class CreateRatePolicyDto extends IntersectionType(PolicyFieldsDto, RateLimitDto) {}

/** Omitted fields stay unchanged; null is validated. */
const LEFT_OUT = { skipNullProperties: false };

/** Groups, type and workspace define a policy and cannot be changed. */
class ChangeablePolicyFieldsDto extends PartialType(
  PickType(PolicyFieldsDto, ['name', 'conditions']),
  LEFT_OUT,
) {}

export class UpdateUsagePolicyDto extends IntersectionType(
  ChangeablePolicyFieldsDto,
  PartialType(OmitType(UsageLimitsDto, ['type']), LEFT_OUT),
) {
  @ApiPropertyOptional({ description: 'Id or value of the counter to set back to zero.', example: 'ann' })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_VALUE)
  readonly reset_usage_for_value?: string;
}

export class UpdateRatePolicyDto extends IntersectionType(
  ChangeablePolicyFieldsDto,
  PartialType(OmitType(RateLimitDto, ['type']), LEFT_OUT),
) {}

export class CreatedPolicyDto {
  @ApiId()
  readonly id: string;

  @ApiObject('policy')
  readonly object: 'policy';

  static from({ id }: LimitPolicy): CreatedPolicyDto {
    return { object: 'policy', id };
  }
}

/** Fields of every policy. */
class PolicyDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Name of the budget or rate limit.', example: 'Users of the search team' })
  readonly name: string;

  @ApiProperty({
    description: 'Conditions under which a request counts. All of them must hold. 1 to 10.',
    type: [ConditionDto],
  })
  readonly conditions: readonly PolicyCondition[];

  @ApiProperty({
    description:
      'Properties by which requests are counted apart: each combination of values has a counter of its own.',
    type: [GroupDto],
  })
  readonly group_by: readonly { readonly key: PolicyKey }[];

  @ApiProperty({ description: 'Current state of the resource.', enum: ['active', 'archived'] })
  readonly status: 'active' | 'archived';

  @ApiId('Id of the workspace.')
  readonly workspace_id: string;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;
}

type Common = { readonly [Field in keyof PolicyDto]: PolicyDto[Field] };

function common(policy: LimitPolicy): Common {
  return {
    id: policy.id,
    name: policy.name,
    conditions: policy.conditions,
    group_by: policy.groupBy,
    status: policy.archivedAt ? 'archived' : 'active',
    workspace_id: policy.workspaceId,
    organisation_id: policy.organizationId,
    created_at: policy.createdAt.toISOString(),
    last_updated_at: policy.updatedAt.toISOString(),
  };
}

export class UsagePolicyDto extends IntersectionType(
  PolicyDto,
  OmitType(ShownUsageLimitsDto, ['usage', 'raised_by']),
) {
  @ApiMomentOrNull('Time of the last reset. Null if there was none.')
  readonly last_reset_at: string | null;

  @ApiObject('policy_usage_limits')
  readonly object: 'policy_usage_limits';

  static from(policy: LimitPolicy): UsagePolicyDto {
    return {
      object: 'policy_usage_limits',
      ...common(policy),
      ...budgetWithoutUse(policy.budget as BudgetRule),
      last_reset_at: policy.lastResetAt?.toISOString() ?? null,
    };
  }
}

export class RatePolicyDto extends IntersectionType(PolicyDto, ShownRateLimitDto) {
  @ApiObject('policy_rate_limits')
  readonly object: 'policy_rate_limits';

  static from(policy: LimitPolicy): RatePolicyDto {
    return { object: 'policy_rate_limits', ...common(policy), ...shownRate(policy.rate as RateRule) };
  }
}

/** Either kind as the API shows it. */
export const shownPolicy = (policy: LimitPolicy): UsagePolicyDto | RatePolicyDto =>
  policy.budget ? UsagePolicyDto.from(policy) : RatePolicyDto.from(policy);

export class UsagePolicyListDto extends ListOf(UsagePolicyDto) {
  static from(policies: readonly LimitPolicy[], total: number): UsagePolicyListDto {
    const data = policies.map((policy) => UsagePolicyDto.from(policy));
    return { object: 'list', total, data };
  }
}

export class RatePolicyListDto extends ListOf(RatePolicyDto) {
  static from(policies: readonly LimitPolicy[], total: number): RatePolicyListDto {
    const data = policies.map((policy) => RatePolicyDto.from(policy));
    return { object: 'list', total, data };
  }
}
