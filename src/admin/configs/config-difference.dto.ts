import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Difference } from '../../common/json/differences.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryText } from '../http/query-fields.js';

export class DiffConfigVersionsQuery extends QueryDto {
  @QueryText('Id of the older version. Default: the version before `to`.')
  readonly from?: string;

  @QueryText('Id of the newer version. Default: the version in force.')
  readonly to?: string;
}

/** Any JSON value. */
const ANY_VALUE = {
  anyOf: [
    { type: 'object' as const, additionalProperties: true, nullable: true },
    { type: 'array' as const, items: {} },
    { type: 'string' as const },
    { type: 'number' as const },
    { type: 'boolean' as const },
  ],
};

export class DifferenceDto implements Difference {
  @ApiProperty({ description: 'Kind of the difference.', enum: ['add', 'remove', 'replace'] })
  readonly op: Difference['op'];

  @ApiProperty({
    description: 'Place in the document, as a JSON Pointer (RFC 6901).',
    example: '/targets/0/weight',
  })
  readonly path: string;

  @ApiPropertyOptional({ description: 'The value now.', ...ANY_VALUE, example: 2 })
  readonly value?: unknown;

  @ApiPropertyOptional({ description: 'The value before.', ...ANY_VALUE, example: 1 })
  readonly old_value?: unknown;
}
