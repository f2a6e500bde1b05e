import { ApiProperty } from '@nestjs/swagger';
import { DECISION_KINDS, type Decision, readDecision } from '../../../routing-config/decisions.js';
import { ApiId } from '../../dto-fields/fields.js';
import { ApiColumn } from '../log-columns.dto.js';
import { ATTEMPT_KINDS, type AttemptReason } from './attempt-reasons.js';
import { BUDGET_SUBJECTS, type ChargedBudget, type UsedConfig } from './route-parts.js';

const WHOLE_OR_NULL = { type: 'integer', nullable: true } as const;

/** A parsed decision of the route. */
export class LogDecisionDto implements Decision {
  @ApiProperty({ description: 'Kind of the decision.', enum: DECISION_KINDS })
  readonly kind: Decision['kind'];
  @ApiProperty({
    description: 'Place in the config at which it was made. Null if there is none.',
    type: String,
    nullable: true,
    example: 'config',
  })
  readonly path: string | null;
  @ApiProperty({
    description: 'Place in the config to which it leads. Null if there is none.',
    type: String,
    nullable: true,
    example: 'config.targets[1]',
  })
  readonly target: string | null;
  @ApiProperty({
    description: 'Index of the condition that held. Null if the decision has no condition.',
    ...WHOLE_OR_NULL,
    example: 0,
  })
  readonly condition: number | null;
  @ApiProperty({
    description: 'Criterion of a load balance. Null for other decisions.',
    type: String,
    nullable: true,
    example: null,
  })
  readonly by: string | null;
  @ApiProperty({
    description: 'Milliseconds after which a hedged attempt began. Null for other decisions.',
    ...WHOLE_OR_NULL,
  })
  readonly after_ms: number | null;
  @ApiProperty({
    description: 'The decision as text.',
    example: 'config: conditions[0] holds, so config.targets[1]',
  })
  readonly text: string;

  static from(text: string): LogDecisionDto {
    return { ...readDecision(text) };
  }
}

/** The saved config that the request used. */
export class LogConfigDto {
  @ApiProperty({ description: 'Slug of the config.', example: 'pc-chat-1k3m9z' }) readonly slug: string;
  @ApiProperty({ description: 'Name of the config.', example: 'Chat with a fallback' }) readonly name: string;
  @ApiProperty({ description: 'Number of the version.', type: 'integer', example: 7 })
  readonly version: number;

  static from({ slug, name, version }: UsedConfig): LogConfigDto {
    return { slug, name, version };
  }
}

export class AttemptReasonDto implements AttemptReason {
  @ApiProperty({ description: 'Kind of the attempt.', enum: ATTEMPT_KINDS })
  readonly kind: AttemptReason['kind'];
  @ApiProperty({
    description: 'Number of the attempt whose result led to this one. Null for the first.',
    ...WHOLE_OR_NULL,
  })
  readonly after_attempt: number | null;
  @ApiProperty({
    description: 'HTTP status of that result. Null if there was none.',
    ...WHOLE_OR_NULL,
    example: 429,
  })
  readonly status: number | null;
  @ApiColumn('error_code') readonly error_code: string | null;
  @ApiProperty({
    description: 'List in the config that names the status. Null if the default rule applied.',
    type: String,
    nullable: true,
    example: 'config.strategy.on_status_codes',
  })
  readonly setting: string | null;

  static from(reason: AttemptReason): AttemptReasonDto {
    return { ...reason };
  }
}

/** A budget that the attempt was charged to. */
export class ChargedBudgetDto {
  @ApiId('Id of the budget.') readonly limit_id: string;
  @ApiProperty({
    description: 'What is counted: dollars, tokens, requests, or requests that run at the same time.',
    enum: ['cost', 'tokens'],
  })
  readonly measure: ChargedBudget['measure'];
  @ApiProperty({
    description: 'Kind of what the budget belongs to. Null if it was deleted.',
    enum: [...BUDGET_SUBJECTS, null],
    nullable: true,
    type: String,
  })
  readonly subject: ChargedBudget['subject'];
  @ApiProperty({
    description: 'Name of the key, workspace or policy. Null if it was deleted.',
    type: String,
    nullable: true,
    example: 'support-bot',
  })
  readonly name: string | null;

  static from({ limit_id, measure, subject, name }: ChargedBudget): ChargedBudgetDto {
    return { limit_id, measure, subject, name };
  }
}
