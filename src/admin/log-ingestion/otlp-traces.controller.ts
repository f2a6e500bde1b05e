import { HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation, ApiProperty } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { LogIngestionService, type UnpricedCall } from './log-ingestion.service.js';
import { BadSpan, readSpan } from './otlp/span-to-call.js';
import {
  type OtlpSpan,
  type PartialSuccess,
  protobufAnswer,
  spansIn,
  spansOfProtobuf,
} from './otlp/trace-message.js';

const MOST_SPANS = 5_000;
const PROTOBUF = 'application/x-protobuf';

class PartialSuccessDto {
  @ApiProperty({
    description:
      'Number of rejected spans. 0: all are stored, and the message says what of them is not kept.',
    type: 'integer',
    example: 1,
  })
  readonly rejectedSpans: number;
  @ApiProperty({
    description: 'Why spans were rejected.',
    example: 'spans without "gen_ai." attributes are not kept',
  })
  readonly errorMessage: string;
}

class OtlpAnswerDto {
  @ApiProperty({
    description: 'Present if some spans were rejected.',
    type: PartialSuccessDto,
    required: false,
  })
  readonly partialSuccess?: PartialSuccess;
}

/** https://opentelemetry.io/docs/specs/otlp/#otlphttp: the response has the encoding of the request. */
@AdminController('otel/v1/traces', 'logs')
@Refusals()
export class OtlpTracesController {
  constructor(private readonly ingestion: LogIngestionService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('logs.write', 'workspace')
  @ApiOperation({
    summary: 'Import OpenTelemetry spans',
    description:
      'Takes OpenTelemetry traces (OTLP over HTTP) as JSON or Protobuf. Spans with `gen_ai` attributes become records; others are rejected.',
  })
  @ApiConsumes('application/json', PROTOBUF)
  @ApiBody({ schema: { type: 'object', additionalProperties: true } })
  @ApiOkResponse({ type: OtlpAnswerDto })
  async traces(
    @Caller() caller: Principal,
    @Req() { body }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OtlpAnswerDto | Buffer> {
    const isProtobuf = Buffer.isBuffer(body);
    const partialSuccess = await this.take(caller, isProtobuf ? spansOfProtobuf(body) : spansIn(body));
    if (!isProtobuf) return partialSuccess ? { partialSuccess } : {};
    reply.type(PROTOBUF);
    return protobufAnswer(partialSuccess);
  }

  /**
   * Invalid spans must not cause the loss of valid ones. Numbers that are not kept are warnings: the spans are not rejected.
   * https://opentelemetry.io/docs/specs/otlp/#partial-success-1
   */
  private async take(caller: Principal, spans: readonly OtlpSpan[]): Promise<PartialSuccess | null> {
    if (spans.length > MOST_SPANS)
      throw new AppError('invalid_request', {
        detail: `A request can have at most ${MOST_SPANS} spans. Split it.`,
      });
    const tenant = `${caller.organizationId} ${caller.workspaceId ?? ''}`;
    const calls = new Map<string, UnpricedCall>();
    const reasons = new Set<string>();
    let rejectedSpans = 0;
    for (const span of spans)
      try {
        const { call, warnings } = readSpan(span, tenant, Date.now());
        calls.set(call.id, call);
        for (const warning of warnings) reasons.add(warning);
      } catch (error) {
        if (!(error instanceof BadSpan)) throw error;
        rejectedSpans += 1;
        reasons.add(error.message);
      }
    await this.ingestion.take(caller, [...calls.values()]);
    return reasons.size === 0 ? null : { rejectedSpans, errorMessage: [...reasons].join('; ') };
  }
}
