import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from '../operations.js';
import { GROUPS } from './groups.js';

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
