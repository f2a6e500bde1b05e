import type { OpenAPIObject } from '@nestjs/swagger';

/** The properties of a schema that the steps of this folder read or change: https://spec.openapis.org/oas/v3.0.3#schema-object */
export interface OpenApiSchema {
  readonly $ref?: string;
  type?: string;
  readonly format?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly minimum?: number;
  enum?: unknown[];
  readonly items?: OpenApiSchema;
  readonly properties?: Record<string, OpenApiSchema>;
  readonly required?: readonly string[];
  additionalProperties?: unknown;
  readonly oneOf?: readonly OpenApiSchema[];
  readonly allOf?: readonly OpenApiSchema[];
}

/** Every operation of a document, with the properties that the caller reads. */
export function operationsOf<Operation>({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods as Record<string, Operation>));
}

export const schemasOf = ({ components }: OpenAPIObject): Record<string, OpenApiSchema> =>
  (components?.schemas ?? {}) as Record<string, OpenApiSchema>;

/** The name that a reference ends with. */
export const nameIn = (reference: { readonly $ref?: string } | undefined): string | undefined =>
  reference?.$ref?.split('/').at(-1);

/** The schemas of which a schema consists. */
export const subschemasOf = ({
  properties = {},
  items,
  oneOf = [],
  allOf = [],
  additionalProperties,
}: OpenApiSchema): OpenApiSchema[] =>
  [...Object.values(properties), items, ...oneOf, ...allOf, additionalProperties].filter(isSchema);

const isSchema = (part: unknown): part is OpenApiSchema => typeof part === 'object' && part !== null;
