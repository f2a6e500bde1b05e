import { Body, HttpCode, Injectable, type PipeTransform, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { customLogsIn } from './custom-log.js';
import { LogIngestionService, type UnpricedCall } from './log-ingestion.service.js';

const NAME = { type: 'string', maxLength: 256 } as const;
const HEADERS = {
  type: 'object',
  additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
  example: { 'content-type': 'application/json' },
};
const BODY = { type: 'object', additionalProperties: true } as const;

const ONE = {
  type: 'object',
  required: ['request', 'response'],
  properties: {
    request: {
      type: 'object',
      required: ['url', 'body'],
      properties: {
        url: {
          type: 'string',
          minLength: 1,
          maxLength: 8_192,
          example: 'https://api.openai.com/v1/chat/completions',
        },
        provider: { ...NAME, example: 'openai' },
        method: { type: 'string', pattern: '^[A-Za-z]{1,16}$', default: 'POST' },
        headers: HEADERS,
        body: BODY,
      },
    },
    response: {
      type: 'object',
      required: ['body'],
      properties: {
        status: { type: 'integer', minimum: 100, maximum: 599, default: 200 },
        headers: HEADERS,
        body: BODY,
        response_time: { type: 'number', minimum: 0, maximum: 86_400_000, default: 0 },
        streamingMode: { type: 'boolean' },
      },
    },
    metadata: {
      type: 'object',
      maxProperties: 32,
      additionalProperties: {
        oneOf: [{ type: 'string', maxLength: 1_024 }, { type: 'number' }, { type: 'boolean' }],
      },
      description:
        'Key-value pairs, at most 32. `trace_id`, `span_id`, `parent_span_id` and `span_name` place the call in a trace.',
      example: { trace_id: 'checkout-7', team: 'search' },
    },
  },
};

/** One log, a list of them, or the object with the keys 0, 1, 2 that the compatible SDK makes from a list. */
@Injectable()
class CustomLogs implements PipeTransform<unknown, readonly UnpricedCall[]> {
  transform(body: unknown): readonly UnpricedCall[] {
    return customLogsIn(body, Date.now());
  }
}

@AdminController('logs')
@Refusals()
export class CustomLogsController {
  constructor(private readonly ingestion: LogIngestionService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('logs.write', 'workspace')
  @ApiOperation({
    summary: 'Import calls made elsewhere',
    description: 'Adds calls that did not pass through the gateway. They appear in logs and analytics.',
  })
  @ApiBody({ schema: { oneOf: [ONE, { type: 'array', minItems: 1, maxItems: 500, items: ONE }] } })
  @ApiOkResponse({ type: DoneDto })
  async create(@Caller() caller: Principal, @Body(new CustomLogs()) calls: UnpricedCall[]): Promise<DoneDto> {
    await this.ingestion.take(caller, calls);
    return EMPTY_RESPONSE;
  }
}
