import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiQuery, ApiResponse } from '@nestjs/swagger';

/** The body of an answer that has nothing to say. */
export class DoneDto {}

export const EMPTY_ANSWER = new DoneDto();

class RefusalDetailDto {
  @ApiProperty({ example: 'There is no such virtual key.' })
  readonly message: string;

  @ApiProperty({ example: 'not_found_error' })
  readonly type: string;

  @ApiProperty({ example: 'not_found' })
  readonly code: string;

  @ApiProperty({ type: String, nullable: true, example: null })
  readonly param: string | null;

  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly request_id: string;
}

class RefusalDto {
  @ApiProperty({ type: RefusalDetailDto })
  readonly error: RefusalDetailDto;
}

const REFUSALS: readonly (readonly [number, string])[] = [
  [400, 'The request is not acceptable; the message names the field and the rule.'],
  [401, 'No valid API key was given.'],
  [403, 'The API key lacks the scope that the message names.'],
  [404, 'There is no such thing, or it is out of reach.'],
  [415, 'The body is not JSON.'],
  [429, 'Too many failed attempts came from this address.'],
  [503, 'The database is away, or the change could not be recorded and was not made.'],
];

/** The refusals that every operation of the administration may give. */
export const Refusals = (): ClassDecorator & MethodDecorator =>
  applyDecorators(
    ...REFUSALS.map(([status, description]) => ApiResponse({ status, description, type: RefusalDto })),
  );

export const PagedQuery = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({ name: 'current_page', required: false, schema: { type: 'integer', minimum: 0, default: 0 } }),
    ApiQuery({
      name: 'page_size',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    }),
  );
