import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { isSuccess, type LogRow } from '../../request-log/reading/log-row.js';
import { LogColumnsDto, shownColumns } from './log-columns.dto.js';

const text = (example: string | null = null) => ApiProperty({ type: String, nullable: true, example });
const whole = (example: number | null = null) => ApiProperty({ type: 'integer', nullable: true, example });

const NANO_USD_PER_CENT = 10_000_000;

/**
 * One request of the log: the columns, and from `is_success` on the same facts under the names of the compatible API, with `cost` in cents
 * and times in milliseconds.
 */
export class LogDto extends LogColumnsDto {
  @ApiProperty({ enum: ['log'] }) readonly object = 'log';
  @text('ws-default') readonly workspace_slug: string | null;
  @ApiPropertyOptional({ type: String, nullable: true, example: 'checkout-api' })
  readonly api_key_name?: string | null;

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

  static from(row: LogRow, more: MoreOfLog = {}): LogDto {
    return Object.assign(new LogDto(), {
      ...shownColumns(row),
      workspace_slug: row.workspace_slug,
      ...compatible(row),
      ...more,
    });
  }
}

/** Data that other tables have. */
type MoreOfLog = Previews & Pick<LogDto, 'api_key_name'>;

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
