import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from '../operations.js';
import { ACCOUNT_FIELDS } from './account-fields.js';
import { ANALYTICS_FIELDS } from './analytics-fields.js';
import { COMMON_FIELDS } from './common-fields.js';
import { GROUPS } from './groups.js';
import { LIMIT_FIELDS } from './limit-fields.js';
import { LOG_FIELDS } from './log-fields.js';
import { PROVIDER_FIELDS } from './provider-fields.js';
import { SINGLE_SIGN_ON_FIELDS } from './single-sign-on-fields.js';

interface Schema {
  readonly $ref?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: unknown;
  description?: string;
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  description?: string;
  tags?: readonly string[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body & { description?: string }>>;
}

const FIELDS: Readonly<Partial<Record<string, string>>> = {
  ...COMMON_FIELDS,
  ...LIMIT_FIELDS,
  ...ACCOUNT_FIELDS,
  ...SINGLE_SIGN_ON_FIELDS,
  ...PROVIDER_FIELDS,
  ...LOG_FIELDS,
  ...ANALYTICS_FIELDS,
};

/** Describes responses whose operation does not. */
export function describeAnswers(document: OpenAPIObject): void {
  for (const { responses } of operationsOf<Operation>(document))
    for (const response of Object.values(responses))
      if (response.description === '') response.description = meaningOfAnswer(response);
}

function meaningOfAnswer({ content = {} }: Body): string {
  const media = content['application/json'];
  if (!media) return 'The content, in parts as it is read.';
  const name = media.schema?.$ref ?? '';
  if (name.endsWith('/DoneDto')) return 'Done. The body is an empty object.';
  return name.endsWith('ListDto') ? 'A page of the list.' : 'Done. The body has the result.';
}

/** Describes each field of a body, unless its DTO does. */
export function describeFields(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  for (const [name, schema] of Object.entries(schemas)) describeBelow(schema, name.replace(/Dto$/, ''));
  for (const { operationId, requestBody, responses } of operationsOf<Operation>(document)) {
    const bodies = [...(requestBody ? [requestBody] : []), ...Object.values(responses)];
    const media = bodies.flatMap(({ content = {} }) => Object.values(content));
    for (const { schema } of media) if (schema) describeBelow(schema, operationId);
  }
}

function describeBelow(schema: Schema, owner: string): void {
  const { properties = {}, items, oneOf = [], allOf = [], additionalProperties } = schema;
  for (const [name, property] of Object.entries(properties)) {
    properties[name] = described(property, meaningOf(owner, name));
    describeBelow(property, name);
  }
  for (const part of [items, ...oneOf, ...allOf, additionalProperties])
    if (typeof part === 'object' && part !== null) describeBelow(part, owner);
}

/** `UpdateConfig.name`, else `Config.name`, else `name`. */
const meaningOf = (owner: string, name: string): string | undefined =>
  FIELDS[`${owner}.${name}`] ??
  FIELDS[`${owner.replace(/^(?:Create|Update)(?=[A-Z])/, '')}.${name}`] ??
  FIELDS[name];

/** A reference cannot have siblings: https://spec.openapis.org/oas/v3.0.3#reference-object */
function described(property: Schema, description: string | undefined): Schema {
  if (description === undefined || property.description !== undefined) return property;
  if (property.$ref !== undefined) return { allOf: [property], description };
  property.description = description;
  return property;
}

const TAG_OF_PATH = new Map(GROUPS.flatMap(({ name, paths = [] }) => paths.map((path) => [path, name])));

/** Assigns operations to the groups of the table, in its order. A path without a group is a programming error. */
export function groupOperations(document: OpenAPIObject): void {
  for (const operation of operationsOf<Operation>(document))
    operation.tags = operation.tags?.map((path) => {
      const group = TAG_OF_PATH.get(path);
      if (group === undefined) throw new Error(`src/admin/openapi/descriptions/groups.ts lacks "${path}".`);
      return group;
    });
}

/** The groups of the document's operations, in the order of the table. */
export function listGroups(document: OpenAPIObject): void {
  const used = new Set(operationsOf<Operation>(document).flatMap(({ tags = [] }) => tags));
  document.tags = GROUPS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({
    name,
    description,
  }));
}
