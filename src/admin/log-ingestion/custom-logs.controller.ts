import { Body, HttpCode, Injectable, type PipeTransform, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../admin-controller.js';
import { DoneDto, EMPTY_ANSWER, Refusals } from '../openapi/decorators.js';
import { customLogsIn } from './custom-log.js';
import { LogIngestionService, type UnpricedCall } from './log-ingestion.service.js';

const HEADERS = { type: 'object', additionalProperties: true } as const;
const BODY = { type: 'object', additionalProperties: true } as const;

const ONE = {
  type: 'object',
  required: ['request', 'response'],
  properties: {
    request: {
      type: 'object',
      required: ['url', 'body'],
      properties: {
        url: { type: 'string', example: 'https://api.openai.com/v1/chat/completions' },
        provider: { type: 'string', example: 'openai' },
        method: { type: 'string', default: 'POST' },
        headers: HEADERS,
        body: BODY,
      },
    },
    response: {
      type: 'object',
      required: ['body'],
      properties: {
        status: { type: 'integer', default: 200 },
        headers: HEADERS,
        body: BODY,
        response_time: { type: 'number', description: 'Milliseconds' },
        streamingMode: { type: 'boolean' },
      },
    },
    metadata: {
      type: 'object',
      additionalProperties: true,
      description: 'Texts; trace_id, span_id, parent_span_id and span_name say where it belongs',
    },
  },
};

/** One log, a list of them, or the object with the keys 0, 1, 2 that the compatible SDK makes of a list. */
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
  @ApiOperation({ summary: 'Log calls that were made elsewhere' })
  @ApiBody({ schema: { oneOf: [ONE, { type: 'array', items: ONE }] } })
  @ApiOkResponse({ type: DoneDto })
  async create(@Caller() caller: Principal, @Body(new CustomLogs()) calls: UnpricedCall[]): Promise<DoneDto> {
    await this.ingestion.take(caller, calls);
    return EMPTY_ANSWER;
  }
}
