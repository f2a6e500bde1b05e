import { ApiProperty } from '@nestjs/swagger';
import { DECISION_KINDS, type Decision, readDecision } from '../../../routing-config/decisions.js';
import { ApiId, ApiTextOrNull } from '../../shapes/fields.js';
import { ATTEMPT_KINDS, type AttemptReason } from './attempt-reasons.js';
import { BUDGET_SUBJECTS, type ChargedBudget, type UsedConfig } from './route-parts.js';

const WHOLE_OR_NULL = { type: 'integer', nullable: true } as const;

/** A decision of the route, taken apart. */
export class LogDecisionDto implements Decision {
  @ApiProperty({ enum: DECISION_KINDS }) readonly kind: Decision['kind'];
  @ApiProperty({ type: String, nullable: true, example: 'config', description: 'Where it was made' })
  readonly path: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'config.targets[1]', description: 'Where it leads' })
  readonly target: string | null;
  @ApiProperty({ ...WHOLE_OR_NULL, example: 0, description: 'Index of the condition that held' })
  readonly condition: number | null;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'What a load balance chose by' })
  readonly by: string | null;
  @ApiProperty({ ...WHOLE_OR_NULL, description: 'Milliseconds after which a hedged attempt began' })
  readonly after_ms: number | null;
  @ApiProperty({ example: 'config: conditions[0] holds, so config.targets[1]' }) readonly text: string;

  static from(text: string): LogDecisionDto {
    return Object.assign(new LogDecisionDto(), readDecision(text));
  }
}

/** The saved config that the request went by. */
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
  @ApiProperty({ ...WHOLE_OR_NULL, description: 'The attempt whose result led to this one' })
  readonly after_attempt: number | null;
  @ApiProperty({ ...WHOLE_OR_NULL, example: 429, description: 'Status of that result' })
  readonly status: number | null;
  @ApiTextOrNull() readonly error_code: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'config.strategy.on_status_codes',
    description: 'The list in the config that names the status; null where the default rule applied',
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
    description: 'Name of the key, the workspace or the policy; null where it was removed since',
  })
  readonly name: string | null;

  static from({ limit_id, measure, subject, name }: ChargedBudget): ChargedBudgetDto {
    return Object.assign(new ChargedBudgetDto(), { limit_id, measure, subject, name });
  }
}
