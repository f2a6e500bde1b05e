import { ApiProperty } from '@nestjs/swagger';
import { type BudgetRule } from '../../common/limits/rules.js';
import { shownAmount } from '../limits/limits.service.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { PolicyEntities, PolicyEntity } from './policy-entities.service.js';

/** One group of a policy and its use. */
export class PolicyEntityDto {
  @ApiProperty({ description: 'Id of the counter.', example: '6f1ed002ab5595859014ebf0951522d9' })
  readonly id: string;

  @ApiProperty({
    description: 'Values of the properties that the counter is for.',
    example: 'metadata._user:ann',
  })
  readonly value_key: string;

  @ApiProperty({ description: 'Use since the last reset, in dollars or tokens.', example: 12.5 })
  readonly current_usage: number;

  @ApiProperty({
    description: '`exhausted` counters have reached the budget; their requests are refused.',
    enum: ['active', 'exhausted'],
  })
  readonly status: 'active' | 'exhausted';

  static from(budget: BudgetRule, entity: PolicyEntity): PolicyEntityDto {
    return {
      id: entity.id,
      value_key: entity.valueKey,
      current_usage: shownAmount(budget, entity.spent),
      status: entity.isExhausted ? 'exhausted' : 'active',
    };
  }
}

export class PolicyEntityListDto extends ListOf(PolicyEntityDto) {
  static from({ budget, entities, total }: PolicyEntities): PolicyEntityListDto {
    const data = entities.map((entity) => PolicyEntityDto.from(budget, entity));
    return { object: 'list', total, data };
  }
}
