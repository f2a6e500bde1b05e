import { ApiProperty } from '@nestjs/swagger';
import { ApiId, ApiMomentOrNull, ApiObject } from '../dto-fields/fields.js';
import { IsAmount } from '../dto-fields/limit.dto.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { LimitStatus, LimitSubject } from './limit-statuses.js';

export class RaiseLimitDto {
  @ApiProperty({
    description: 'Amount to add until the next reset, in dollars or tokens. Several raises add up.',
    example: 50,
  })
  @IsAmount()
  readonly by: number;
}

class LimitSubjectDto {
  @ApiProperty({
    description: 'Kind of what the limit belongs to.',
    enum: ['api_key', 'virtual_key', 'workspace'],
  })
  readonly type: LimitSubject['type'];

  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Display name. It need not be unique.', example: 'support-bot' })
  readonly name: string;

  @ApiProperty({
    description: 'Slug of the virtual key or workspace. Null for an API key.',
    type: String,
    nullable: true,
    example: null,
  })
  readonly slug: string | null;

  @ApiProperty({
    description: 'Id of the workspace. Null for an admin key.',
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
  })
  readonly workspace_id: string | null;
}

const Amount = (description: string): PropertyDecorator =>
  ApiProperty({ description, type: Number, nullable: true, example: 87.93 });

/** A limit and its use. Amounts are dollars for cost, else tokens or requests. */
export class LimitStatusDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'What the limit belongs to.', type: LimitSubjectDto })
  readonly applies_to: LimitSubjectDto;

  @ApiProperty({ description: 'Kind of the limit.', enum: ['budget', 'rate', 'concurrency'] })
  readonly kind: LimitStatus['kind'];

  @ApiProperty({
    description: 'What is counted: dollars, tokens, requests, or requests that run at the same time.',
    enum: ['cost', 'tokens', 'requests', 'concurrency'],
  })
  readonly measure: LimitStatus['measure'];

  @ApiProperty({
    description:
      'Reset period of a budget, or window of a rate limit. Null for a budget without a reset, and for concurrency.',
    type: String,
    nullable: true,
    example: 'monthly',
  })
  readonly period: string | null;

  @ApiProperty({ description: 'Amount that is allowed now, raises included.', example: 550 })
  readonly limit: number;

  @ApiProperty({ description: 'Amount added until the next reset.', example: 50 })
  readonly raised_by: number;

  @Amount(
    'Use in the current period or window, or the running requests. Rate limits include what gateway processes have leased in advance. Null while the store of the limit is unavailable.',
  )
  readonly used: number | null;

  @Amount('What is left in the current period or window. Null while the store of the limit is unavailable.')
  readonly remaining: number | null;

  @ApiMomentOrNull('Time of the next reset of a budget. Null if there is none.')
  readonly resets_at: string | null;

  @Amount('Average use of a budget in a day of the current period. Null for rate limits.')
  readonly used_per_day: number | null;

  @ApiMomentOrNull(
    'Time at which the budget ends at the current rate of use. Null if it lasts until its reset.',
  )
  readonly exhausted_at: string | null;

  @ApiProperty({
    description: '`nearly_exhausted` from 80 % of use.',
    enum: ['ok', 'nearly_exhausted', 'exhausted'],
  })
  readonly status: LimitStatus['status'];

  @ApiObject('limit')
  readonly object: 'limit';

  static from({ subject, ...status }: LimitStatus): LimitStatusDto {
    const { type, id, name, slug, workspaceId } = subject;
    return {
      object: 'limit',
      ...status,
      applies_to: { type, id, name, slug, workspace_id: workspaceId },
      resets_at: status.resets_at?.toISOString() ?? null,
      exhausted_at: status.exhausted_at?.toISOString() ?? null,
    };
  }
}

export class LimitStatusListDto extends ListOf(LimitStatusDto) {
  @ApiProperty({ description: 'Whether there are more limits than this response covers.', example: false })
  readonly is_partial: boolean;

  static from(statuses: readonly LimitStatus[], total: number, isPartial: boolean): LimitStatusListDto {
    return {
      object: 'list',
      total,
      data: statuses.map((status) => LimitStatusDto.from(status)),
      is_partial: isPartial,
    };
  }
}
