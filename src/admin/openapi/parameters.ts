import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';
import type { Fragment } from './validation-rules.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  schema: Fragment;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
}

/** Days that every month has, with a zone if there is a time. */
const DAY = '(?:19|20)\\d\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d)';
const UUID = '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}';
const WORDS = /(?:Must be one|One) of ((?:\w+, )+\w+)\./;

const matching = (pattern: string, example?: string): Fragment => ({
  type: 'string',
  pattern: `^${pattern}$`,
  ...(example !== undefined && { example }),
});
const listOf = (value: string, most: number): string => `${value}(?:,${value}){0,${most - 1}}`;

/**
 * Patterns of text parameters, by description or name. Unlisted parameters accept any text. A pattern may be narrower than the service
 * where an exact one would be complex, such as days after the 28th.
 */
const PARAMETERS: readonly (readonly [RegExp, Fragment])[] = [
  [
    /Must be a date, or a date and time|_of_generation_m|^(?:start|end)_time/,
    matching(`${DAY}(?:T${TIME})?`, '2030-01-28T12:00:00Z'),
  ],
  [/Must be a number/, matching('-?\\d{1,9}(?:\\.\\d{1,6})?', '100')],
  [/Must be "true" or "false"/, { type: 'boolean' }],
  [/Must be a list of status codes/, matching(listOf('[1-5]\\d\\d', 10), '429')],
  [/Must be a status code/, matching('[1-5]\\d\\d', '403')],
  [/Must be a list of at most 100 values/, matching(listOf('[^,]{1,64}', 10))],
  [/Must be a list of ids/, matching(listOf(UUID, 10))],
  [/Must be an id/, { type: 'string', format: 'uuid' }],
  [/^email:/, { type: 'string', format: 'email' }],
  [/^metadata:/, { type: 'string', example: '{"team":"search"}' }],
  [/^order_by_type:/, { type: 'string', enum: ['asc', 'desc'] }],
];

const told = (name: string, description: string): Fragment | undefined => {
  const words = WORDS.exec(description)?.[1];
  if (words !== undefined) return { type: 'string', enum: words.split(', ') };
  return PARAMETERS.find(([pattern]) => pattern.test(`${name}: ${description}`))?.[1];
};

/** Adds the formats of query parameters to the document. */
export function tellParameters(document: OpenAPIObject): void {
  for (const { parameters = [] } of operationsOf<Operation>(document))
    for (const parameter of parameters) {
      if (parameter.in !== 'query' || parameter.schema['type'] !== 'string' || parameter.schema['enum'])
        continue;
      parameter.schema = { ...parameter.schema, ...told(parameter.name, parameter.description ?? '') };
    }
}
