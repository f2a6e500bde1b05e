import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { OrNull } from '../../common/http/validators.js';

const texts = (description: string, example: string) => ({
  description,
  type: 'array' as const,
  nullable: true,
  items: { type: 'string' as const },
  example: [example],
});

const RULES = {
  description:
    'What the request log replaces before it stores a request, beside the rules of the level above. Null: no further rules.',
  type: 'object' as const,
  nullable: true,
  additionalProperties: false,
  properties: {
    headers: texts('Names of headers whose values are replaced.', 'x-customer-id'),
    json_paths: texts(
      'JSONPath expressions of places in JSON bodies whose values are replaced.',
      '$.messages[*].content',
    ),
    patterns: texts(
      'Regular expressions (RE2 syntax). Matching text in bodies is replaced.',
      '[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{4}',
    ),
  },
};

/** Redaction rules, or null for none. `readRedaction` validates their content and names every mistake. */
export const TakesRedaction = (): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional(RULES), OrNull(), IsObject());

export const ShowsRedaction = (): PropertyDecorator => ApiProperty(RULES);
