import { Body, HttpCode, Injectable, type PipeTransform, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { DoneDto, EMPTY_RESPONSE, Refusals } from '../openapi/decorators.js';
import { customLogsIn } from './custom-log.js';
import { LogIngestionService, type UnpricedCall } from './log-ingestion.service.js';

const NAME = { type: 'string', maxLength: 256 } as const;
const headers = (description: string) => ({
  description,
  type: 'object',
  additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
  example: { 'content-type': 'application/json' },
});
const body = (description: string) => ({ description, type: 'object', additionalProperties: true });

const ONE = {
  type: 'object',
  required: ['request', 'response'],
  properties: {
    request: {
      description: 'The request of the call.',
      type: 'object',
      required: ['url', 'body'],
      properties: {
        url: {
          description: 'Address that was called.',
          type: 'string',
          minLength: 1,
          maxLength: 8_192,
          example: 'https://api.openai.com/v1/chat/completions',
        },
        provider: {
          ...NAME,
          description: 'Id of the provider. Default: found by the address.',
          example: 'openai',
        },
        method: {
          description: 'HTTP method of the call. Default: POST.',
          type: 'string',
          pattern: '^[A-Za-z]{1,16}$',
          default: 'POST',
        },
        headers: headers('Headers of the request. Default: none.'),
        body: body('Body of the request.'),
      },
    },
    response: {
      description: 'The response of the call.',
      type: 'object',
      required: ['body'],
      properties: {
        status: {
          description: 'HTTP status of the response. Default: 200.',
          type: 'integer',
          minimum: 100,
          maximum: 599,
          default: 200,
        },
        headers: headers('Headers of the response. Default: none.'),
        body: body('Body of the response.'),
        response_time: {
          description: 'Duration of the call in milliseconds. Default: 0.',
          type: 'number',
          minimum: 0,
          maximum: 86_400_000,
          default: 0,
        },
        streamingMode: { description: 'Whether the response was streamed. Default: false.', type: 'boolean' },
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
