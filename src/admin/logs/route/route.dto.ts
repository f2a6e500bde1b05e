import { ApiProperty } from '@nestjs/swagger';
import { DECISION_KINDS, type Decision, readDecision } from '../../../routing-config/decisions.js';
import { ApiId } from '../../dto-fields/fields.js';
import { ApiColumn } from '../log-columns.dto.js';
import { ATTEMPT_KINDS, type AttemptReason } from './attempt-reasons.js';
import { BUDGET_SUBJECTS, type ChargedBudget, type UsedConfig } from './route-parts.js';

const WHOLE_OR_NULL = { type: 'integer', nullable: true } as const;

/** A parsed decision of the route. */
export class LogDecisionDto implements Decision {
  @ApiProperty({ enum: DECISION_KINDS }) readonly kind: Decision['kind'];
  @ApiProperty({ type: String, nullable: true, example: 'config' })
  readonly path: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'config.targets[1]' })
  readonly target: string | null;
  @ApiProperty({ ...WHOLE_OR_NULL, example: 0 })
  readonly condition: number | null;
  @ApiProperty({ type: String, nullable: true, example: null })
  readonly by: string | null;
  @ApiProperty({ ...WHOLE_OR_NULL })
  readonly after_ms: number | null;
  @ApiProperty({ example: 'config: conditions[0] holds, so config.targets[1]' }) readonly text: string;

  static from(text: string): LogDecisionDto {
    return Object.assign(new LogDecisionDto(), readDecision(text));
  }
}

/** The saved config that the request used. */
export class LogConfigDto {
  @ApiProperty({ example: 'pc-chat-1k3m9z' }) readonly slug: string;
  @ApiProperty({ example: 'Chat with a fallback' }) readonly name: string;
  @ApiProperty({ type: 'integer', example: 7 }) readonly version: number;

  static from({ slug, name, version }: UsedConfig): LogConfigDto {
    return Object.assign(new LogConfigDto(), { slug, name, version });
  }
}

export class AttemptReasonDto implements AttemptReason {
  @ApiProperty({ enum: ATTEMPT_KINDS }) readonly kind: AttemptReason['kind'];
  @ApiProperty({ ...WHOLE_OR_NULL })
  readonly after_attempt: number | null;
  @ApiProperty({ ...WHOLE_OR_NULL, example: 429 })
  readonly status: number | null;
  @ApiColumn('error_code') readonly error_code: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'config.strategy.on_status_codes',
  })
  readonly setting: string | null;

  static from(reason: AttemptReason): AttemptReasonDto {
    return Object.assign(new AttemptReasonDto(), reason);
  }
}

/** A budget that the attempt was charged to. */
export class ChargedBudgetDto {
  @ApiId() readonly limit_id: string;
  @ApiProperty({ enum: ['cost', 'tokens'] }) readonly measure: ChargedBudget['measure'];
  @ApiProperty({ enum: [...BUDGET_SUBJECTS, null], nullable: true, type: String })
  readonly subject: ChargedBudget['subject'];
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'support-bot',
  })
  readonly name: string | null;

  static from({ limit_id, measure, subject, name }: ChargedBudget): ChargedBudgetDto {
    return Object.assign(new ChargedBudgetDto(), { limit_id, measure, subject, name });
  }
}
