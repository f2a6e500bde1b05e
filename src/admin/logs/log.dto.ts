import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { isSuccess, type LogRow } from '../../request-log/reading/log-row.js';
import { LogColumnsDto, shownColumns } from './log-columns.dto.js';
import { ApiObject } from '../dto-fields/fields.js';

const text = (description: string, example: string | null = null) =>
  ApiProperty({ description, type: String, nullable: true, example });
const whole = (description: string, example: number | null = null) =>
  ApiProperty({ description, type: 'integer', nullable: true, example });

const NANO_USD_PER_CENT = 10_000_000;

/**
 * One request of the log: the columns, and from `is_success` on the same facts under the names of the compatible API, with `cost` in cents
 * and times in milliseconds.
 */
export class LogDto extends LogColumnsDto {
  @ApiObject('log') readonly object: 'log';
  @text('Slug of the workspace. Null if it was deleted.', 'ws-default') readonly workspace_slug:
    string | null;
  @ApiPropertyOptional({
    description:
      'Name of the API key, also of a revoked one. Null if none was used, or if it does not exist. Absent in traces and live updates.',
    type: String,
    nullable: true,
    example: 'checkout-api',
  })
  readonly api_key_name?: string | null;

  @ApiProperty({ description: 'Whether the response had a status below 400.' }) readonly is_success: boolean;
  @text('Id of the provider. Null if none was chosen.', 'openai') readonly ai_org: string | null;
  @text('Id of the model. Null if the request named none.', 'gpt-5') readonly ai_model: string | null;
  @whole('The same as `input_tokens`.', 12) readonly req_units: number | null;
  @whole('The same as `output_tokens`.', 40) readonly res_units: number | null;
  @whole('Input and output tokens together. Null if unknown.', 52) readonly total_units: number | null;
  @ApiProperty({
    description: 'Cost in US cents. Null if the price is unknown.',
    type: Number,
    nullable: true,
    example: 0.0415,
  })
  readonly cost: number | null;
  @ApiProperty({ description: 'Currency of `cost`. Always USD.', enum: ['USD'] })
  readonly cost_currency: 'USD';
  @ApiProperty({ description: 'Path of the request.', example: '/v1/chat/completions' })
  readonly request_url: string;
  @ApiProperty({ description: 'HTTP method of the request.', example: 'POST' })
  readonly request_method: string;
  @ApiProperty({ description: 'HTTP status of the response.', type: 'integer', example: 200 })
  readonly response_status_code: number;
  @ApiProperty({
    description: 'Milliseconds from the arrival of the request to the end of the response.',
    type: 'integer',
    example: 812,
  })
  readonly response_time: number;
  @ApiProperty({ description: 'Whether the request passed through to the provider unread.' })
  readonly is_proxy_call: boolean;
  @ApiProperty({ description: '1 if the response was streamed, else 0.', type: 'integer', enum: [0, 1] })
  readonly stream_mode: number;
  @ApiProperty({ description: 'Which retry succeeded, 0 if none was needed.', type: 'integer', example: 0 })
  readonly retry_success_count: number;

  @ApiPropertyOptional({
    description: 'Last message of the request, shortened. Only in lists and with the scope `logs.view`.',
    maxLength: 200,
    example: 'Hello',
  })
  readonly request_preview?: string;
  @ApiPropertyOptional({
    description: 'Beginning of the response. Only in lists and with the scope `logs.view`.',
    maxLength: 200,
    example: 'Hello! How can I help you?',
  })
  readonly response_preview?: string;

  static from(row: LogRow, more: MoreOfLog = {}): LogDto {
    return {
      object: 'log',
      cost_currency: 'USD',
      ...shownColumns(row),
      workspace_slug: row.workspace_slug,
      ...compatible(row),
      ...more,
    };
  }
}

/** Data that other tables have. */
type MoreOfLog = Previews & Pick<LogDto, 'api_key_name'>;

export type Previews = Pick<LogDto, 'request_preview' | 'response_preview'>;

function compatible(row: LogRow) {
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
  @ApiObject('list') readonly object: 'list';
  @ApiProperty({ description: 'The requests of this page, newest first.', type: [LogDto] })
  readonly data: readonly LogDto[];
  @ApiProperty({ description: 'Whether older requests follow.' }) readonly has_more: boolean;
  @ApiProperty({
    description: 'Cursor of the next page. Send it as `cursor`. Null on the last page.',
    type: String,
    nullable: true,
  })
  readonly next_cursor: string | null;
  @ApiPropertyOptional({
    description: 'Number of matching requests, at most 10,001. Only with `include_total=true`.',
    type: 'integer',
  })
  readonly total?: number;
  @ApiPropertyOptional({ description: 'Whether more than 10,000 requests match.' })
  readonly total_is_capped?: boolean;
  @ApiPropertyOptional({
    description:
      'Number of requests that were searched. A page may have few or no results although `next_cursor` continues.',
    type: 'integer',
  })
  readonly searched_rows?: number;

  static from(data: readonly LogDto[], next_cursor: string | null, more: MoreOfList = {}): LogListDto {
    const has_more = next_cursor !== null;
    return { object: 'list', data, next_cursor, has_more, ...more };
  }
}
