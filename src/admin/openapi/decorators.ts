import { ERROR_CODES } from '../../common/errors/catalog.js';
import { AppError, errorBody } from '../../common/errors/app-error.js';
import { ADMINISTRATION_BODY_LIMIT } from '../../common/http/body-limits.js';
import { ApiProperty, ApiResponse } from '@nestjs/swagger';
import { AN_ID, ApiId, ApiTextOrNull } from '../dto-fields/fields.js';
import { invalidField } from '../../common/errors/field-errors.js';

/** An empty response body. */
export class DoneDto {}

export const EMPTY_RESPONSE = new DoneDto();

class RefusalDetailDto {
  @ApiProperty({
    description: 'What was wrong, where, and what to do next. For display; the wording may change.',
    example: 'There is no such virtual key.',
  })
  readonly message: string;

  @ApiProperty({
    description: 'Class of the error. Use `code` to tell errors apart.',
    example: 'not_found_error',
  })
  readonly type: string;

  @ApiProperty({
    description: `Stable code of the error: ${ERROR_CODES.map((code) => `\`${code}\``).join(', ')}. More may follow.`,
    example: 'not_found',
  })
  readonly code: string;

  @ApiTextOrNull('Name of the field or parameter that was wrong. Null if the error concerns no single one.')
  readonly param: string | null;

  @ApiId('Id of the request. Support and the request log find it by this id.')
  readonly request_id: string;
}

class RefusalDto {
  @ApiProperty({ description: 'What was wrong.', type: RefusalDetailDto })
  readonly error: RefusalDetailDto;
}

/** Errors that every operation of the administration may return: an example of each, and when it occurs. */
const REFUSALS: readonly (readonly [AppError, string])[] = [
  [
    invalidField('name', 'it must be a string'),
    'The request is invalid; the message names the field and the rule.',
  ],
  [
    new AppError('unauthenticated', { problem: 'The gateway API key or signed token is not valid' }),
    'No valid API key was given.',
  ],
  [
    new AppError('forbidden', { detail: 'it needs the scope "virtual_keys.create"' }),
    'The API key lacks the scope that the message names.',
  ],
  [new AppError('not_found', { resource: 'virtual key' }), 'There is no such thing, or it is out of reach.'],
  [new AppError('conflict', { detail: 'The slug is taken.' }), 'Something else stands in the way.'],
  [new AppError('precondition_failed'), 'It is not what If-Match names any more.'],
  [new AppError('body_too_large', { limitBytes: ADMINISTRATION_BODY_LIMIT }), 'The body is too large.'],
  [new AppError('unsupported_media_type', { contentType: 'text/plain' }), 'The body is not JSON.'],
  [new AppError('idempotency_key_reused'), 'The Idempotency-Key was used for another request.'],
  [
    new AppError('rate_limited', { subject: 'failed attempts from this address' }),
    'Too many failed attempts came from this address.',
  ],
  [new AppError('internal_error'), 'The gateway failed.'],
  [
    new AppError('database_unavailable'),
    'The database is unavailable, or the change could not be recorded and was not made.',
  ],
];

/** Documents the errors that every operation of the administration may return. */
export const Refusals = (): ClassDecorator & MethodDecorator =>
  ApiResponse({
    status: 'default',
    description:
      'A refusal. The status and `error.code` say why; the examples show those that every operation may give.',
    type: RefusalDto,
    examples: Object.fromEntries(
      REFUSALS.map(([error, summary]) => {
        const value = errorBody(error, AN_ID);
        return [value.error.code, { summary, value }];
      }),
    ),
  });

/** Documents an error that only this operation returns. */
export const Refuses = (error: AppError, description: string): ClassDecorator & MethodDecorator =>
  ApiResponse({
    status: error.spec.status,
    description,
    type: RefusalDto,
    example: errorBody(error, AN_ID),
  });
