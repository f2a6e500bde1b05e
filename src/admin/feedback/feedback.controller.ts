import { Body, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiOkResponse, ApiOperation, getSchemaPath } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AdminController } from '../admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { CreateFeedbackDto, FeedbackAnswerDto, UpdateFeedbackDto } from './feedback.dto.js';
import { FeedbackService } from './feedback.service.js';
import { OneOrMany } from './one-or-many.js';

const ONE = { $ref: getSchemaPath(CreateFeedbackDto) };

@AdminController('feedback')
@Refusals()
export class FeedbackController {
  constructor(private readonly feedback: FeedbackService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('logs.write')
  @ApiOperation({ summary: 'Create feedback' })
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
  @ApiOperation({ summary: 'Change feedback' })
  @ApiOkResponse({ type: FeedbackAnswerDto })
  async update(
    @Caller() caller: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateFeedbackDto,
  ): Promise<FeedbackAnswerDto> {
    await this.feedback.update(caller, id, dto);
    return FeedbackAnswerDto.from('Feedback is changed.', [id]);
  }
}
