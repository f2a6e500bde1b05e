import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { OrNull } from '../../common/http/validators.js';

const texts = (example: string) => ({
  type: 'array' as const,
  nullable: true,
  items: { type: 'string' as const },
  example: [example],
});

const RULES = {
  type: 'object' as const,
  nullable: true,
  additionalProperties: false,
  properties: {
    headers: texts('x-customer-id'),
    json_paths: texts('$.messages[*].content'),
    patterns: texts('[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{4}'),
  },
};

/** Redaction rules, or null for none. `readRedaction` validates their content and names every mistake. */
export const TakesRedaction = (): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional(RULES), OrNull(), IsObject());

export const ShowsRedaction = (): PropertyDecorator => ApiProperty(RULES);
