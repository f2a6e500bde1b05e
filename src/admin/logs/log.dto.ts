import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { USAGE_SOURCES } from '../../request-log/record.js';
import { isSuccess, type LogRow } from '../../request-log/reading/log-row.js';
import { AN_ID, ApiId } from '../shapes/fields.js';

const text = (example: string | null = null) => ApiProperty({ type: String, nullable: true, example });
const whole = (example: number | null = null) => ApiProperty({ type: 'integer', nullable: true, example });

const NANO_USD_PER_CENT = 10_000_000;

/**
 * One request of the log. The first half are our own columns; from `is_success` on, the same facts under the names of the compatible API,
 * with `cost` in cents and times in milliseconds.
 */
export class LogDto {
  @ApiId() readonly id: string;
  @ApiProperty({ enum: ['log'] }) readonly object = 'log';
  @ApiProperty({ format: 'date-time', example: '2030-01-31T12:00:00.000Z' }) readonly created_at: string;
  @ApiId() readonly organisation_id: string;
  @text(AN_ID) readonly workspace_id: string | null;
  @text('ws-default') readonly workspace_slug: string | null;
  @text(AN_ID) readonly api_key_id: string | null;
  @text() readonly user_id: string | null;
  @text(AN_ID) readonly virtual_key_id: string | null;
  @text('openai-prod') readonly virtual_key: string | null;
  @text() readonly config_id: string | null;
  @text() readonly config_version_id: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'config.targets[1]',
  })
  readonly option_path: string | null;
  @ApiProperty({
    type: [String],
    nullable: true,
    example: ['config: conditions[0] holds, so config.targets[1]'],
  })
  readonly decisions: readonly string[] | null;
  @ApiProperty({ example: 'checkout-7' }) readonly trace_id: string;
  @text() readonly span_id: string | null;
  @text() readonly parent_span_id: string | null;
  @text() readonly span_name: string | null;
  @ApiProperty({ example: 'POST' }) readonly method: string;
  @ApiProperty({ example: '/v1/chat/completions' }) readonly path: string;
  @text('chat-completions') readonly endpoint: string | null;
  @text('openai') readonly provider: string | null;
  @text('gpt-5') readonly model: string | null;
  @text('gpt-5-2026-01-01') readonly response_model: string | null;
  @ApiProperty() readonly streamed: boolean;
  @ApiProperty({ example: 'completed' }) readonly ending: string;
  @ApiProperty({ type: 'integer', example: 200 }) readonly status: number;
  @text() readonly error_code: string | null;
  @text() readonly error_source: string | null;
  @ApiProperty({ type: 'integer', example: 812 }) readonly duration_ms: number;
  @whole(120) readonly first_token_ms: number | null;
  @ApiProperty({ type: 'integer', example: 310 })
  readonly overhead_us: number;
  @ApiProperty({ type: 'integer', example: 512 }) readonly request_bytes: number;
  @ApiProperty({ type: 'integer', example: 2048 }) readonly response_bytes: number;
  @whole(12) readonly input_tokens: number | null;
  @whole(40) readonly output_tokens: number | null;
  @whole() readonly cached_input_tokens: number | null;
  @whole() readonly cache_write_tokens: number | null;
  @whole() readonly reasoning_tokens: number | null;
  @whole() readonly audio_input_tokens: number | null;
  @whole() readonly audio_output_tokens: number | null;
  @ApiProperty({ enum: USAGE_SOURCES }) readonly usage_source: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 415000,
  })
  readonly cost_nano_usd: number | null;
  @ApiProperty({ type: 'integer', example: 1 }) readonly attempt_count: number;
  @text() readonly prompt_slug: string | null;
  @text('MISS') readonly cache_status: string | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: null,
  })
  readonly cache_score: number | null;
  @ApiProperty({
    type: 'integer',
    nullable: true,
  })
  readonly saved_nano_usd: number | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Service tier named by the response, or else by the request. Null if neither names one.',
    example: 'default',
  })
  readonly service_tier: string | null;
  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Parameters that the provider does not have and was not sent; null for none',
    example: null,
  })
  readonly dropped_parameters: readonly string[] | null;
  @whole(0) readonly retry_count: number | null;
  @whole(0) readonly fallback_count: number | null;
  @ApiProperty({ type: Object, nullable: true, example: { _user: 'ada' } })
  readonly metadata: Readonly<Record<string, string>> | null;
  @ApiProperty({
    type: Object,
    nullable: true,
    example: null,
  })
  readonly hook_results: Readonly<Record<string, unknown>> | null;

  @ApiProperty({
    type: String,
    enum: ['api', 'otlp', null],
    nullable: true,
  })
  readonly source: string | null;

  @ApiProperty() readonly is_success: boolean;
  @text('openai') readonly ai_org: string | null;
  @text('gpt-5') readonly ai_model: string | null;
  @whole(12) readonly req_units: number | null;
  @whole(40) readonly res_units: number | null;
  @whole(52) readonly total_units: number | null;
  @ApiProperty({ type: Number, nullable: true, example: 0.0415 })
  readonly cost: number | null;
  @ApiProperty({ enum: ['USD'] }) readonly cost_currency = 'USD';
  @ApiProperty({ example: '/v1/chat/completions' }) readonly request_url: string;
  @ApiProperty({ example: 'POST' }) readonly request_method: string;
  @ApiProperty({ type: 'integer', example: 200 }) readonly response_status_code: number;
  @ApiProperty({ type: 'integer', example: 812 }) readonly response_time: number;
  @ApiProperty() readonly is_proxy_call: boolean;
  @ApiProperty({ type: 'integer', enum: [0, 1] }) readonly stream_mode: number;
  @ApiProperty({ type: 'integer', example: 0 }) readonly retry_success_count: number;

  @ApiPropertyOptional({
    maxLength: 200,
    example: 'Hello',
  })
  readonly request_preview?: string;
  @ApiPropertyOptional({
    maxLength: 200,
    example: 'Hello! How can I help you?',
  })
  readonly response_preview?: string;

  static from(row: LogRow, previews: Previews = {}): LogDto {
    return Object.assign(new LogDto(), {
      ...row,
      // Only for the cursor and the count.
      at: undefined,
      fitting: undefined,
      created_at: row.created_at.toISOString(),
      request_bytes: Number(row.request_bytes),
      response_bytes: Number(row.response_bytes),
      cost_nano_usd: row.cost_nano_usd === null ? null : Number(row.cost_nano_usd),
      saved_nano_usd: row.saved_nano_usd === null ? null : Number(row.saved_nano_usd),
      ...compatible(row),
      ...previews,
    });
  }
}

export type Previews = Pick<LogDto, 'request_preview' | 'response_preview'>;

function compatible(row: LogRow): Partial<LogDto> {
  const is_success = isSuccess(row);
  return {
    is_success,
    ai_org: row.provider,
    ai_model: row.model,
    req_units: row.input_tokens,
    res_units: row.output_tokens,
    total_units:
      row.input_tokens === null && row.output_tokens === null
        ? null
        : (row.input_tokens ?? 0) + (row.output_tokens ?? 0),
    cost: row.cost_nano_usd === null ? null : Number(row.cost_nano_usd) / NANO_USD_PER_CENT,
    request_url: row.path,
    request_method: row.method,
    response_status_code: row.status,
    response_time: row.duration_ms,
    is_proxy_call: row.endpoint === null,
    stream_mode: row.streamed ? 1 : 0,
    retry_success_count: is_success ? (row.retry_count ?? Math.max(0, row.attempt_count - 1)) : 0,
  };
}

/** A count up to a limit. */
export interface CappedCount {
  readonly total: number;
  readonly total_is_capped: boolean;
}

/** A page of the log, newest first. */
type MoreOfList = Partial<CappedCount> & { readonly searched_rows?: number };

export class LogListDto {
  @ApiProperty({ enum: ['list'] }) readonly object = 'list';
  @ApiProperty({ type: [LogDto] }) readonly data: readonly LogDto[];
  @ApiProperty() readonly has_more: boolean;
  @ApiProperty({ type: String, nullable: true })
  readonly next_cursor: string | null;
  @ApiPropertyOptional({
    type: 'integer',
  })
  readonly total?: number;
  @ApiPropertyOptional() readonly total_is_capped?: boolean;
  @ApiPropertyOptional({
    type: 'integer',
  })
  readonly searched_rows?: number;

  static from(data: readonly LogDto[], next_cursor: string | null, more: MoreOfList = {}): LogListDto {
    const has_more = next_cursor !== null;
    return Object.assign(new LogListDto(), { data, next_cursor, has_more, ...more });
  }
}
