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
import { ApiId, ApiMoment, ApiCreatedAt } from '../dto-fields/fields.js';

/** One attempt at one target. */
export class LogAttemptDto {
  @ApiProperty({ description: 'Number of the attempt, counted from 0.', type: 'integer', example: 0 })
  readonly attempt: number;
  @ApiColumn('option_path') readonly option_path: string | null;
  @ApiProperty({
    description: 'Id of the provider in the provider catalogue, such as `openai`.',
    example: 'openai',
  })
  readonly provider: string;
  @ApiProperty({ description: 'Id of the virtual key. Null if none was used.', type: String, nullable: true })
  readonly virtual_key_id: string | null;
  @ApiProperty({ description: 'Origin of the address that was called.', example: 'https://api.openai.com' })
  readonly origin: string;
  @ApiMoment('Time at which the attempt began, ISO 8601 in UTC.') readonly started_at: string;
  @ApiProperty({
    description: 'Milliseconds until the first byte of the response. Null if there was none.',
    type: 'integer',
    nullable: true,
    example: 95,
  })
  readonly first_byte_ms: number | null;
  @ApiColumn('duration_ms') readonly duration_ms: number;
  @ApiProperty({
    description: "HTTP status of the provider's response. Null if there was none.",
    type: 'integer',
    nullable: true,
    example: 200,
  })
  readonly status: number | null;
  @ApiColumn('error_code') readonly error_code: string | null;
  @ApiColumn('input_tokens') readonly input_tokens: number | null;
  @ApiColumn('output_tokens') readonly output_tokens: number | null;
  @ApiColumn('cost_nano_usd') readonly cost_nano_usd: number | null;
  @ApiPropertyOptional({
    description:
      'Price that was charged. Absent if nothing was used, the price is unknown, or several were added up.',
    type: AppliedPriceDto,
  })
  readonly price?: AppliedPriceDto;
  @ApiProperty({
    description: 'Whether tokens and cost are an estimate, because the response did not arrive completely.',
    example: false,
  })
  readonly estimated: boolean;
  @ApiProperty({ description: 'Why the attempt was made.', type: AttemptReasonDto })
  readonly reason: AttemptReasonDto;
  @ApiProperty({ description: 'Budgets to which the attempt was charged.', type: [ChargedBudgetDto] })
  readonly charged_to: readonly ChargedBudgetDto[];

  static from({ attempt, reason, budgets }: RecordedAttempt): LogAttemptDto {
    const { price, estimated, charged, ...row } = attempt;
    return {
      ...row,
      started_at: row.started_at.toISOString(),
      cost_nano_usd: row.cost_nano_usd === null ? null : Number(row.cost_nano_usd),
      ...(price && { price: AppliedPriceDto.from(price) }),
      estimated: estimated ?? false,
      reason: AttemptReasonDto.from(reason),
      charged_to: budgets
        .filter(({ key }) => charged?.includes(key))
        .map((budget) => ChargedBudgetDto.from(budget)),
    };
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
  @ApiId() readonly id: string;
  @ApiProperty({ description: 'Rating, -10 to 10.', type: 'integer', example: 5 }) readonly value: number;
  @ApiProperty({ description: 'Weight of the rating in averages, 0 to 1.', example: 1 })
  readonly weight: number;
  @ApiProperty({
    description:
      'Key-value pairs that are stored with each request, for filters and reports: at most 64 keys, values of at most 128 characters.',
    type: Object,
    example: {},
  })
  readonly metadata: Readonly<Record<string, string>>;
  @ApiCreatedAt() readonly created_at: string;

  static from(row: FeedbackRow): LogFeedbackDto {
    return { ...row, created_at: row.created_at.toISOString() };
  }
}

/** A message of the exchange: headers as stored, with secrets masked, and the captured part of the body. */
class LogMessageDto implements ReadableBody {
  @ApiProperty({
    description: 'Headers by their names in lower case. Secrets are masked.',
    type: Object,
    example: { 'content-type': 'application/json' },
  })
  readonly headers: Readonly<Record<string, string>>;
  @ApiProperty({
    description: 'Body as JSON, text or Base64, see `body_format`. Null if it was not kept.',
    oneOf: [
      { type: 'object', nullable: true },
      { type: 'array', items: {} },
      { type: 'string' },
      { type: 'number' },
      { type: 'boolean' },
    ],
  })
  readonly body: unknown;
  @ApiProperty({
    description: 'Format of `body`. Null if it was not kept.',
    enum: ['json', 'text', 'base64', null],
    nullable: true,
  })
  readonly body_format: ReadableBody['body_format'];
  @ApiProperty({ description: 'Size of the body in bytes.', type: 'integer', example: 512 })
  readonly body_bytes: number;
  @ApiProperty({ description: 'Whether only the beginning and the end of the body were kept.' })
  readonly body_truncated: boolean;
  @ApiProperty({ description: 'Whether the body was kept but cannot be read.' })
  readonly body_unavailable: boolean;

  static from({ row, readable }: LogMessage): LogMessageDto {
    return { headers: row?.headers ?? {}, ...readable };
  }
}

class LogRequestDto extends LogMessageDto {
  @ApiProperty({ description: 'Path of the request, with its query.', example: '/v1/chat/completions' })
  readonly url: string;
  @ApiColumn('method') readonly method: string;
  @ApiProperty({ description: 'The headers that control the gateway.', type: Object, example: {} })
  readonly portkeyHeaders: Readonly<Record<string, string>>;
}

class LogResponseDto extends LogMessageDto {
  @ApiProperty({ description: 'HTTP status of the response.', type: 'integer', example: 200 })
  readonly status: number;
  @ApiProperty({
    description: 'Milliseconds from the arrival of the request to the end of the response.',
    type: 'integer',
    example: 812,
  })
  readonly responseTime: number;
}

/** One request with everything recorded about it. `_id`, `request`, `response` and `metrics` are the compatible format. */
export class LogDetailDto extends LogDto {
  @ApiId('The same as `id`.') readonly _id: string;
  @ApiProperty({ description: 'The request, with secrets masked.', type: LogRequestDto })
  readonly request: LogRequestDto;
  @ApiProperty({ description: 'The response.', type: LogResponseDto }) readonly response: LogResponseDto;
  @ApiProperty({ description: 'Attempts in the order in which they began.', type: [LogAttemptDto] })
  readonly attempts: readonly LogAttemptDto[];
  @ApiProperty({ description: 'The decisions of the routing, split into fields.', type: [LogDecisionDto] })
  readonly route: readonly LogDecisionDto[];
  @ApiPropertyOptional({
    description: 'The saved config that applied. Absent if none did, or if it was deleted.',
    type: LogConfigDto,
  })
  readonly config?: LogConfigDto;
  @ApiPropertyOptional({
    description: 'The fields of the list, under the names of the compatible API.',
    type: Object,
  })
  readonly metrics: Readonly<Record<string, unknown>>;

  @ApiProperty({ description: 'Feedback on the trace, oldest first, at most 100.', type: [LogFeedbackDto] })
  readonly feedback: readonly LogFeedbackDto[];
  @ApiProperty({ description: 'Whether the trace has more feedback than is shown.' })
  readonly feedback_has_more: boolean;

  static of({
    row,
    attempts,
    feedback,
    hasMoreFeedback,
    request,
    response,
    ...facts
  }: LogDetail): LogDetailDto {
    const log = LogDto.from(row, { api_key_name: facts.apiKeyName });
    const route = (row.decisions ?? []).map((text) => LogDecisionDto.from(text));
    const hedgedTo = new Set(route.flatMap(({ kind, target }) => (kind === 'hedge' && target ? target : [])));
    const reasons = attemptReasons(attempts, facts.config?.document ?? null, hedgedTo);
    return {
      ...log,
      _id: row.id,
      request: {
        ...LogMessageDto.from(request),
        url: row.path,
        method: row.method,
        portkeyHeaders: gatewayHeaders(request.row),
      },
      response: { ...LogMessageDto.from(response), status: row.status, responseTime: row.duration_ms },
      route,
      ...(facts.config && { config: LogConfigDto.from(facts.config) }),
      attempts: attempts.map((attempt, index) => {
        const reason = reasons[index] as AttemptReason;
        return LogAttemptDto.from({ attempt, reason, budgets: facts.budgets });
      }),
      feedback: feedback.map((given) => LogFeedbackDto.from(given)),
      feedback_has_more: hasMoreFeedback,
      metrics: metricsOf(log, attempts),
    };
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
