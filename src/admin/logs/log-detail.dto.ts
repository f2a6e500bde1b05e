import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { AppliedPriceDto } from './applied-price.dto.js';
import { ApiColumn } from './log-columns.dto.js';
import { LogDto } from './log.dto.js';
import type { LogRow } from '../../request-log/reading/log-row.js';
import type { BodyRow, FeedbackRow, ShownAttempt } from './request-parts.js';
import type { ReadableBody } from './readable-body.js';
import { type AttemptReason, attemptReasons } from './route/attempt-reasons.js';
import { AttemptReasonDto, ChargedBudgetDto, LogConfigDto, LogDecisionDto } from './route/route.dto.js';
import type { ChargedBudget, UsedConfig } from './route/route-parts.js';

/** One attempt at one target. */
export class LogAttemptDto {
  @ApiProperty({ type: 'integer', example: 0 }) readonly attempt: number;
  @ApiColumn('option_path') readonly option_path: string | null;
  @ApiProperty({ example: 'openai' }) readonly provider: string;
  @ApiProperty({ type: String, nullable: true }) readonly virtual_key_id: string | null;
  @ApiProperty({ example: 'https://api.openai.com' }) readonly origin: string;
  @ApiProperty({ format: 'date-time', example: '2030-01-31T12:00:00.000Z' }) readonly started_at: string;
  @ApiProperty({ type: 'integer', nullable: true, example: 95 }) readonly first_byte_ms: number | null;
  @ApiColumn('duration_ms') readonly duration_ms: number;
  @ApiProperty({ type: 'integer', nullable: true, example: 200 }) readonly status: number | null;
  @ApiColumn('error_code') readonly error_code: string | null;
  @ApiColumn('input_tokens') readonly input_tokens: number | null;
  @ApiColumn('output_tokens') readonly output_tokens: number | null;
  @ApiColumn('cost_nano_usd') readonly cost_nano_usd: number | null;
  @ApiPropertyOptional({
    type: AppliedPriceDto,
  })
  readonly price?: AppliedPriceDto;
  @ApiProperty({
    example: false,
  })
  readonly estimated: boolean;
  @ApiProperty({ type: AttemptReasonDto })
  readonly reason: AttemptReasonDto;
  @ApiProperty({ type: [ChargedBudgetDto] })
  readonly charged_to: readonly ChargedBudgetDto[];

  static from({ attempt, reason, budgets }: RecordedAttempt): LogAttemptDto {
    const { price, estimated, charged, ...row } = attempt;
    return Object.assign(new LogAttemptDto(), {
      ...row,
      started_at: row.started_at.toISOString(),
      cost_nano_usd: row.cost_nano_usd === null ? null : Number(row.cost_nano_usd),
      ...(price && { price: AppliedPriceDto.from(price) }),
      estimated: estimated ?? false,
      reason: AttemptReasonDto.from(reason),
      charged_to: budgets
        .filter(({ key }) => charged?.includes(key))
        .map((budget) => ChargedBudgetDto.from(budget)),
    });
  }
}

/** An attempt, its reason, and the budgets of the request. */
interface RecordedAttempt {
  readonly attempt: ShownAttempt;
  readonly reason: AttemptReason;
  readonly budgets: readonly ChargedBudget[];
}

/** Feedback on the trace. */
class LogFeedbackDto {
  @ApiProperty({ format: 'uuid' }) readonly id: string;
  @ApiProperty({ type: 'integer', example: 5 }) readonly value: number;
  @ApiProperty({ example: 1 }) readonly weight: number;
  @ApiProperty({ type: Object, example: {} }) readonly metadata: Readonly<Record<string, string>>;
  @ApiProperty({ format: 'date-time', example: '2030-01-31T12:00:00.000Z' }) readonly created_at: string;

  static from(row: FeedbackRow): LogFeedbackDto {
    return Object.assign(new LogFeedbackDto(), { ...row, created_at: row.created_at.toISOString() });
  }
}

/** A message of the exchange: headers as stored, with secrets masked, and the captured part of the body. */
class LogMessageDto implements ReadableBody {
  @ApiProperty({ type: Object, example: { 'content-type': 'application/json' } })
  readonly headers: Readonly<Record<string, string>>;
  @ApiProperty({
    oneOf: [
      { type: 'object', nullable: true },
      { type: 'array', items: {} },
      { type: 'string' },
      { type: 'number' },
      { type: 'boolean' },
    ],
  })
  readonly body: unknown;
  @ApiProperty({ enum: ['json', 'text', 'base64', null], nullable: true })
  readonly body_format: ReadableBody['body_format'];
  @ApiProperty({ type: 'integer', example: 512 }) readonly body_bytes: number;
  @ApiProperty() readonly body_truncated: boolean;
  @ApiProperty() readonly body_unavailable: boolean;

  static from({ row, readable }: LogMessage): LogMessageDto {
    return Object.assign(new LogMessageDto(), { headers: row?.headers ?? {}, ...readable });
  }
}

class LogRequestDto extends LogMessageDto {
  @ApiProperty({ example: '/v1/chat/completions' }) readonly url: string;
  @ApiColumn('method') readonly method: string;
  /** The headers that control the gateway, under the compatible API's name. */
  @ApiProperty({ type: Object, example: {} }) readonly portkeyHeaders: Readonly<Record<string, string>>;
}

class LogResponseDto extends LogMessageDto {
  @ApiProperty({ type: 'integer', example: 200 }) readonly status: number;
  @ApiProperty({ type: 'integer', example: 812 }) readonly responseTime: number;
}

/** One request with everything recorded about it. `_id`, `request`, `response` and `metrics` are the compatible format. */
export class LogDetailDto extends LogDto {
  @ApiProperty({ format: 'uuid' }) readonly _id: string;
  @ApiProperty({ type: LogRequestDto }) readonly request: LogRequestDto;
  @ApiProperty({ type: LogResponseDto }) readonly response: LogResponseDto;
  @ApiProperty({ type: [LogAttemptDto] }) readonly attempts: readonly LogAttemptDto[];
  @ApiProperty({ type: [LogDecisionDto] })
  readonly route: readonly LogDecisionDto[];
  @ApiPropertyOptional({
    type: LogConfigDto,
  })
  readonly config?: LogConfigDto;
  @ApiPropertyOptional({
    type: Object,
  })
  readonly metrics: Readonly<Record<string, unknown>>;

  @ApiProperty({ type: [LogFeedbackDto] }) readonly feedback: readonly LogFeedbackDto[];
  @ApiProperty()
  readonly feedback_has_more: boolean;

  static of({
    row,
    attempts,
    feedback,
    hasMoreFeedback,
    request,
    response,
    ...told
  }: LogDetail): LogDetailDto {
    const log = LogDto.from(row, { api_key_name: told.apiKeyName });
    const route = (row.decisions ?? []).map((text) => LogDecisionDto.from(text));
    const hedgedTo = new Set(route.flatMap(({ kind, target }) => (kind === 'hedge' && target ? target : [])));
    const reasons = attemptReasons(attempts, told.config?.document ?? null, hedgedTo);
    return Object.assign(new LogDetailDto(), log, {
      _id: row.id,
      request: Object.assign(LogMessageDto.from(request), {
        url: row.path,
        method: row.method,
        portkeyHeaders: gatewayHeaders(request.row),
      }),
      response: Object.assign(LogMessageDto.from(response), {
        status: row.status,
        responseTime: row.duration_ms,
      }),
      route,
      ...(told.config && { config: LogConfigDto.from(told.config) }),
      attempts: attempts.map((attempt, index) => {
        const reason = reasons[index] as AttemptReason;
        return LogAttemptDto.from({ attempt, reason, budgets: told.budgets });
      }),
      feedback: feedback.map((given) => LogFeedbackDto.from(given)),
      feedback_has_more: hasMoreFeedback,
      metrics: metricsOf(log, attempts),
    });
  }
}

/** The parts of a detail. */
export interface LogDetail {
  readonly row: LogRow;
  readonly apiKeyName: string | null;
  readonly attempts: readonly ShownAttempt[];
  readonly config: UsedConfig | null;
  readonly budgets: readonly ChargedBudget[];
  readonly feedback: readonly FeedbackRow[];
  readonly hasMoreFeedback: boolean;
  readonly request: LogMessage;
  readonly response: LogMessage;
}

export interface LogMessage {
  readonly row: BodyRow | undefined;
  readonly readable: ReadableBody;
}

const TO_GATEWAY = /^x-(gateway|portkey)-/;

function gatewayHeaders(row: BodyRow | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(row?.headers ?? {}).filter(([name]) => TO_GATEWAY.test(name)));
}

const METRICS = [
  'id',
  'organisation_id',
  'created_at',
  'is_success',
  'ai_org',
  'ai_model',
  'req_units',
  'res_units',
  'total_units',
  'cost',
  'cost_currency',
  'request_url',
  'request_method',
  'response_status_code',
  'response_time',
  'is_proxy_call',
  'stream_mode',
  'retry_success_count',
  'cache_status',
  'config_id',
  'config_version_id',
  'prompt_slug',
  'trace_id',
  'span_id',
  'span_name',
  'parent_span_id',
  'virtual_key',
  'workspace_slug',
  'api_key_id',
] as const satisfies readonly (keyof LogDto)[];

const US_PER_MS = 1_000;

function metricsOf(log: LogDto, attempts: readonly ShownAttempt[]): Record<string, unknown> {
  return {
    ...Object.fromEntries(METRICS.map((name) => [name, log[name]])),
    'metadata.key': Object.keys(log.metadata ?? {}),
    'metadata.value': Object.values(log.metadata ?? {}),
    gateway_processing_time: Math.round(log.overhead_us / US_PER_MS),
    upstream_response_time: attempts.at(-1)?.duration_ms ?? null,
  };
}
