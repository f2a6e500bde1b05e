import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { getMetadataStorage } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata.js';
import { nestedClasses, type RuleSchema } from '../../common/http/validators.js';
import { nameIn, operationsOf, subschemasOf, type OpenApiSchema, schemasOf } from './parts.js';

interface ConstrainedOperation {
  readonly requestBody?: {
    required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;
  };
}

/**
 * Makes request bodies in the document as strict as the service: schemas contain the rules of their DTO, unlisted fields are refused, and a
 * body whose fields are all optional is optional itself. `bodies`: the classes of all bodies; they name the classes of their fields.
 */
export function applyConstraints(document: OpenAPIObject, bodies: readonly Type[]): void {
  const schemas = schemasOf(document);
  const classes = new Map([...nestedClasses(), ...bodies].map((each) => [each.name, each]));
  const visited = new Set<OpenApiSchema>();
  const constrain = (schema: OpenApiSchema | undefined, dto?: Type): void => {
    if (!schema || visited.has(schema)) return;
    visited.add(schema);
    const name = nameIn(schema);
    if (name !== undefined) constrain(schemas[name], classes.get(name));
    if (schema.properties) {
      // The framework omits it beside `allOf`, which would allow null.
      schema.type ??= 'object';
      schema.additionalProperties ??= false;
    }
    if (dto) addRules(schema, dto);
    for (const part of subschemasOf(schema)) constrain(part);
  };
  for (const { requestBody } of operationsOf<ConstrainedOperation>(document))
    for (const { schema } of Object.values(requestBody?.content ?? {})) {
      constrain(schema);
      const named = schemas[nameIn(schema) ?? ''];
      if (requestBody && named) requestBody.required = (named.required ?? []).length > 0;
    }
}

function addRules({ properties = {} }: OpenApiSchema, dto: Type): void {
  for (const metadata of getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false)) {
    const property = properties[metadata.propertyName];
    const target = metadata.each ? property?.items : property;
    if (target && !target.$ref && !target.oneOf && !target.allOf) merge(target, schemaOf(metadata));
  }
}

/** The schema of one of our rules, or of one of the library. Requests that break a rule without a schema are refused nevertheless. */
const schemaOf = ({ name, constraints, context }: ValidationMetadata): RuleSchema =>
  (context as { readonly schema?: RuleSchema } | undefined)?.schema ??
  SCHEMA_OF_RULE[name ?? '']?.((constraints ?? []) as readonly unknown[]) ??
  {};

/** The JSON Schema of the library's rules, by their names: https://github.com/typestack/class-validator#validation-decorators */
const SCHEMA_OF_RULE: Readonly<Record<string, (constraints: readonly unknown[]) => RuleSchema>> = {
  arrayMaxSize: ([maxItems]) => ({ maxItems }),
  arrayMinSize: ([minItems]) => ({ minItems }),
  arrayUnique: () => ({ uniqueItems: true }),
  equals: ([value]) => ({ enum: [value] }),
  isIn: ([values]) => ({ enum: values }),
  isInt: () => ({ type: 'integer' }),
  isLength: ([minLength, maxLength]) => ({ minLength, maxLength }),
  isUuid: () => ({ format: 'uuid' }),
  // Unicode properties are not supported by all readers of a document.
  matches: ([pattern]) =>
    (pattern as RegExp).source.includes('\\p{') ? {} : { pattern: (pattern as RegExp).source },
  max: ([maximum]) => ({ maximum }),
  maxLength: ([maxLength]) => ({ maxLength }),
  min: ([minimum]) => ({ minimum }),
};

/** Values from the document's decorators take precedence, except for types. */
function merge(schema: OpenApiSchema, { type, enum: values, ...rule }: RuleSchema): void {
  const given = { ...schema };
  Object.assign(
    schema,
    rule,
    values && { enum: schema.nullable ? [...(values as unknown[]), null] : values },
    given,
  );
  if (type !== undefined) schema.type = type as string;
}
