import { ApiProperty } from '@nestjs/swagger';
import { ApiId, ApiMomentOrNull } from '../dto-fields/fields.js';
import { IsAmount } from '../dto-fields/limit.dto.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { LimitStatus, LimitSubject } from './limit-statuses.js';

export class RaiseLimitDto {
  /** Dollars, or tokens for a token budget. Added to earlier raises of the period. */
  @ApiProperty({ example: 50 })
  @IsAmount()
  readonly by: number;
}

class LimitSubjectDto {
  @ApiProperty({ enum: ['api_key', 'virtual_key', 'workspace'] })
  readonly type: LimitSubject['type'];

  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'support-bot' })
  readonly name: string;

  /** For virtual keys and workspaces. */
  @ApiProperty({ type: String, nullable: true, example: null })
  readonly slug: string | null;

  /** Null for an admin key. */
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: null })
  readonly workspace_id: string | null;
}

const Amount = (): PropertyDecorator => ApiProperty({ type: Number, nullable: true, example: 87.93 });

/** A limit and its use. Amounts are dollars for cost, else tokens or requests. */
export class LimitStatusDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ type: LimitSubjectDto })
  readonly applies_to: LimitSubjectDto;

  @ApiProperty({ enum: ['budget', 'rate', 'concurrency'] })
  readonly kind: LimitStatus['kind'];

  @ApiProperty({ enum: ['cost', 'tokens', 'requests', 'concurrency'] })
  readonly measure: LimitStatus['measure'];

  /** The counting period: a budget's reset, or a rate's window. Null for a budget without a reset, and for concurrency. */
  @ApiProperty({ type: String, nullable: true, example: 'monthly' })
  readonly period: string | null;

  /** The current limit, including raises of this period. */
  @ApiProperty({ example: 550 })
  readonly limit: number;

  @ApiProperty({ example: 50 })
  readonly raised_by: number;

  /**
   * For a budget: in this period. For a rate: within the window that ends now. For concurrency: the running requests. Rates and concurrency
   * include what gateway processes have leased in advance; they are null while their store is unavailable.
   */
  @Amount()
  readonly used: number | null;

  @Amount()
  readonly remaining: number | null;

  /** For a budget: when the next period begins. */
  @ApiMomentOrNull()
  readonly resets_at: string | null;

  /** For a budget: average use per day of this period. */
  @Amount()
  readonly used_per_day: number | null;

  /** When it will be exhausted at this rate; null when it lasts until its reset. */
  @ApiMomentOrNull()
  readonly exhausted_at: string | null;

  @ApiProperty({ enum: ['ok', 'nearly_exhausted', 'exhausted'] })
  readonly status: LimitStatus['status'];

  @ApiProperty({ enum: ['limit'] })
  readonly object = 'limit';

  static from({ subject, ...status }: LimitStatus): LimitStatusDto {
    const { type, id, name, slug, workspaceId } = subject;
    return Object.assign(new LimitStatusDto(), {
      ...status,
      applies_to: { type, id, name, slug, workspace_id: workspaceId },
      resets_at: status.resets_at?.toISOString() ?? null,
      exhausted_at: status.exhausted_at?.toISOString() ?? null,
    });
  }
}

export class LimitStatusListDto extends ListOf(LimitStatusDto) {
  /** Whether there are more limits than were read. */
  @ApiProperty({ example: false })
  readonly is_partial: boolean;

  static from(statuses: readonly LimitStatus[], total: number, isPartial: boolean): LimitStatusListDto {
    return Object.assign(new LimitStatusListDto(), {
      total,
      data: statuses.map((status) => LimitStatusDto.from(status)),
      is_partial: isPartial,
    });
  }
}
