import { Body, HttpCode, Injectable, Param, type PipeTransform, Post, Put, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiOperation, getSchemaPath } from '@nestjs/swagger';
import { AuditedAs, Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { CreateFeedbackDto, FeedbackAnswerDto, UpdateFeedbackDto } from './feedback.dto.js';
import { FeedbackService } from './feedback.service.js';
import { AppError } from '../../common/errors/app-error.js';
import { checkRepeatedId } from '../http/repeated-id.js';
import { recordNested } from '../../common/http/validators.js';
import { createValidationPipe } from '../http/validation.js';

const MOST = 100;

/** A body with one object or a list, as a list; each element is validated against the DTO. */
@Injectable()
class OneOrMany<T> implements PipeTransform<unknown, Promise<readonly T[]>> {
  private readonly each = createValidationPipe();

  constructor(private readonly dto: Type<T & object>) {
    recordNested(() => dto);
  }

  async transform(body: unknown): Promise<readonly T[]> {
    const given: readonly unknown[] = Array.isArray(body) ? body : [body];
    if (given.length === 0 || given.length > MOST)
      throw new AppError('invalid_request', { detail: `The list must have 1 to ${MOST} entries.` });
    const checked = given.map((each) => {
      if (typeof each !== 'object' || each === null)
        throw new AppError('invalid_request', {
          detail: 'The body must be an object, or a list of objects.',
        });
      return this.each.transform(each, { type: 'body', metatype: this.dto }) as Promise<T>;
    });
    return Promise.all(checked);
  }
}

const ONE = { $ref: getSchemaPath(CreateFeedbackDto) };

@AdminController('feedback', 'logs')
@Refusals()
export class FeedbackController {
  constructor(private readonly feedback: FeedbackService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('logs.write')
  @AuditedAs('feedback.create')
  @ApiOperation({
    summary: 'Create feedback',
    description: 'Stores ratings of traces. They appear in logs and analytics.',
  })
  @ApiExtraModels(CreateFeedbackDto)
  @ApiBody({ schema: { oneOf: [ONE, { type: 'array', minItems: 1, maxItems: 100, items: ONE }] } })
  @ApiOkResponse({ type: FeedbackAnswerDto })
  async create(
    @Caller() caller: Principal,
    @Body(new OneOrMany(CreateFeedbackDto)) given: CreateFeedbackDto[],
  ): Promise<FeedbackAnswerDto> {
    return FeedbackAnswerDto.from('Feedback is stored.', await this.feedback.create(caller, given));
  }

  @Put(':id')
  @RequireScope('logs.write')
  @AuditedAs('feedback.update')
  @ApiOperation({ summary: 'Change feedback', description: 'Changes the fields that are sent.' })
  @ApiOkResponse({ type: FeedbackAnswerDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateFeedbackDto,
  ): Promise<FeedbackAnswerDto> {
    checkRepeatedId('feedback_id', dto.feedback_id, id);
    await this.feedback.update(caller, id, dto);
    return FeedbackAnswerDto.from('Feedback is changed.', [id]);
  }
}
