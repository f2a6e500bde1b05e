import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsNumber, IsString, Max, Min } from 'class-validator';
import { IfGiven, rule } from '../../common/http/validators.js';
import { AN_ID } from '../dto-fields/fields.js';

const LARGEST = 10;
const LONGEST_TRACE = 256;
const LONGEST_TEXT = 128;
const MOST_KEYS = 32;
/** PostgreSQL texts cannot hold NUL or lone surrogates. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

const isText = (value: unknown, longest: number): boolean =>
  typeof value === 'string' && value.length <= longest && !UNSTORABLE.test(value);

function isMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= MOST_KEYS && entries.flat().every((text) => isText(text, LONGEST_TEXT));
}

class FeedbackFieldsDto {
  @ApiProperty({
    description: 'Rating, -10 (bad) to 10 (good).',
    type: 'integer',
    minimum: -LARGEST,
    maximum: LARGEST,
    example: 5,
  })
  @IsInt({ message: `it must be a whole number from -${LARGEST} to ${LARGEST}` })
  @Min(-LARGEST, { message: `it must be a whole number from -${LARGEST} to ${LARGEST}` })
  @Max(LARGEST, { message: `it must be a whole number from -${LARGEST} to ${LARGEST}` })
  readonly value: number;

  @ApiPropertyOptional({
    description: 'Weight of the rating in averages, 0 to 1. Default: 1.',
    type: Number,
    minimum: 0,
    maximum: 1,
    default: 1,
  })
  @IfGiven()
  @IsNumber({}, { message: 'it must be a number from 0 to 1' })
  @Min(0, { message: 'it must be a number from 0 to 1' })
  @Max(1, { message: 'it must be a number from 0 to 1' })
  readonly weight?: number;

  @ApiPropertyOptional({
    description: 'Key-value pairs, at most 32, with values of at most 128 characters.',
    type: 'object',
    additionalProperties: { type: 'string', maxLength: LONGEST_TEXT },
  })
  @IfGiven()
  @rule(
    'isMetadata',
    `it must be an object of at most ${MOST_KEYS} strings of at most ${LONGEST_TEXT} characters`,
    isMetadata,
    { maxProperties: MOST_KEYS },
  )
  readonly metadata?: Readonly<Record<string, string>>;
}

/** The changeable fields of feedback. */
export class UpdateFeedbackDto extends FeedbackFieldsDto {
  /** The compatible SDK repeats the id of the path. */
  @ApiHideProperty()
  @IfGiven()
  @IsString()
  readonly feedback_id?: string;
}

export class CreateFeedbackDto extends FeedbackFieldsDto {
  @ApiProperty({
    description: 'Id of the trace that is rated.',
    maxLength: LONGEST_TRACE,
    example: 'checkout-7',
  })
  @rule(
    'isTraceId',
    `it must be a string of 1 to ${LONGEST_TRACE} characters`,
    (value) => value !== '' && isText(value, LONGEST_TRACE),
    { minLength: 1, maxLength: LONGEST_TRACE },
  )
  readonly trace_id: string;
}

export class FeedbackAnswerDto {
  @ApiProperty({ description: 'Always `success`.', enum: ['success'] }) readonly status: 'success';
  @ApiProperty({ description: 'What was done, as text.', example: 'Feedback is stored.' })
  readonly message: string;
  @ApiProperty({ description: 'Ids of the feedback that was stored.', type: [String], example: [AN_ID] })
  readonly feedback_ids: readonly string[];

  static from(message: string, feedback_ids: readonly string[]): FeedbackAnswerDto {
    return { status: 'success', message, feedback_ids };
  }
}
