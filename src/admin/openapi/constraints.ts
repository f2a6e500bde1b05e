import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata.js';
import { operationsOf } from './operations.js';
import { type Fragment, SCHEMA_OF_RULE } from './validation-rules.js';

interface Schema {
  $ref?: string;
  type?: string;
  nullable?: boolean;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  readonly oneOf?: Schema[];
  readonly allOf?: Schema[];
}

interface Operation {
  readonly requestBody?: {
    required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema?: Schema }>>;
  };
}

/**
 * Makes request bodies in the document as strict as the service: schemas contain the rules of their DTO, unlisted fields are refused, and a
 * body whose fields are all optional is optional itself.
 */
export function applyConstraints(document: OpenAPIObject, bodies: readonly Type[]): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const classes = new Map([...validatedClasses(), ...bodies].map((each) => [each.name, each]));
  const told = new Set<Schema>();
  const tell = (schema: Schema | undefined, dto?: Type): void => {
    if (!schema || told.has(schema)) return;
    told.add(schema);
    const name = nameIn(schema);
    if (name !== undefined) tell(schemas[name], classes.get(name));
    if (schema.properties) {
      // The framework omits it beside `allOf`, which would allow null.
      schema.type ??= 'object';
      schema.additionalProperties ??= false;
    }
    if (dto) addRules(schema, dto);
    for (const part of partsOf(schema)) tell(part);
  };
  const bodiesOf = operationsOf<Operation>(document).flatMap(({ requestBody }) => requestBody ?? []);
  for (const body of bodiesOf) {
    for (const { schema } of Object.values(body.content)) {
      tell(schema);
      tellWhetherNeeded(body, schemas[nameIn(schema) ?? '']);
    }
  }
}

/** The schema name of a reference. */
const nameIn = (schema: Schema | undefined): string | undefined => schema?.$ref?.split('/').at(-1);

function tellWhetherNeeded(body: { required?: boolean }, schema: Schema | undefined): void {
  if (schema) body.required = (schema.required ?? []).length > 0;
}

const partsOf = ({
  properties = {},
  items,
  oneOf = [],
  allOf = [],
  additionalProperties,
}: Schema): Schema[] =>
  [...Object.values(properties), items, ...oneOf, ...allOf, additionalProperties].filter(isSchema);

const isSchema = (part: unknown): part is Schema => typeof part === 'object' && part !== null;

/** The library lists them nowhere else: https://github.com/typestack/class-validator/blob/v0.15.1/src/metadata/MetadataStorage.ts */
const validatedClasses = (): Type[] => [
  ...(
    getMetadataStorage() as unknown as { readonly validationMetadatas: ReadonlyMap<Type, unknown> }
  ).validationMetadatas.keys(),
];

function addRules({ properties = {} }: Schema, dto: Type): void {
  for (const metadata of getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false)) {
    const property = properties[metadata.propertyName];
    const fragment = fragmentOf(metadata);
    if (!property || !fragment) continue;
    const target = metadata.each ? property.items : property;
    if (target && !target.$ref && !target.oneOf && !target.allOf) merge(target, fragment);
  }
}

const fragmentOf = ({ name, constraints }: ValidationMetadata): Fragment | undefined =>
  SCHEMA_OF_RULE[name ?? '']?.((constraints ?? []) as readonly unknown[]);

/** Values from the document's decorators take precedence. */
function merge(schema: Schema, fragment: Fragment): void {
  for (const [key, value] of Object.entries(fragment)) {
    const told = schema as Record<string, unknown>;
    if (value === undefined) continue;
    if (key === 'type') told[key] = value;
    else if (key === 'enum') told[key] ??= schema.nullable ? [...(value as unknown[]), null] : value;
    else told[key] ??= value;
  }
}
