import type { OpenAPIObject } from '@nestjs/swagger';

/** The properties of a schema that the steps of this folder read or change: https://spec.openapis.org/oas/v3.0.3#schema-object */
export interface Schema {
  readonly $ref?: string;
  type?: string;
  readonly format?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly minimum?: number;
  enum?: unknown[];
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  additionalProperties?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** Every operation of a document, with the properties that the caller reads. */
export function operationsOf<Operation>({ paths }: OpenAPIObject): Operation[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods as Record<string, Operation>));
}

export const schemasOf = ({ components }: OpenAPIObject): Record<string, Schema> =>
  (components?.schemas ?? {}) as Record<string, Schema>;

/** The name that a reference ends with. */
export const nameIn = (reference: { readonly $ref?: string } | undefined): string | undefined =>
  reference?.$ref?.split('/').at(-1);

/** The schemas of which a schema consists. */
export const partsOf = ({
  properties = {},
  items,
  oneOf = [],
  allOf = [],
  additionalProperties,
}: Schema): Schema[] =>
  [...Object.values(properties), items, ...oneOf, ...allOf, additionalProperties].filter(isSchema);

const isSchema = (part: unknown): part is Schema => typeof part === 'object' && part !== null;
