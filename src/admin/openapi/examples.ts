import type { OpenAPIObject } from '@nestjs/swagger';
import { AN_ID } from '../dto-fields/fields.js';
import { nameIn, operationsOf, type OpenApiSchema, schemasOf } from './parts.js';

interface Media {
  readonly schema?: OpenApiSchema;
  example?: unknown;
  readonly examples?: object;
}

interface ExampleContent {
  readonly content?: Readonly<Record<string, Media>>;
}

interface ExampleOperation {
  readonly requestBody?: ExampleContent;
}

const JSON_TYPE = 'application/json';

/** Optional fields that most requests have: an admin key names the workspace, most providers need a key, calls are signed. */
const USUALLY_SENT: readonly string[] = [
  'workspace_id',
  'key',
  'unit',
  'jwks_uri',
  'secret',
  'issuer',
  'client_id',
  'client_secret',
];

/** Examples for formats that need no description. */
const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2030-01-31T12:00:00.000Z',
  uuid: AN_ID,
};

/**
 * Adds an example to every request body, composed of the examples of its required and usual fields. Viewers of the document compose
 * response examples, which have all fields, themselves.
 */
export function addExamples(document: OpenAPIObject): void {
  const schemas = schemasOf(document);
  for (const { requestBody } of operationsOf<ExampleOperation>(document))
    addTo(requestBody, new Examples(schemas, false));
}

/** Removes examples that add nothing to the schema: null for nullable fields, dates for date formats. */
export function dropPlainExamples(document: OpenAPIObject): void {
  const drop = (part: object): void => {
    for (const value of Object.values(part) as unknown[])
      if (typeof value === 'object' && value !== null) drop(value);
    const schema = part as { format?: unknown; nullable?: unknown; example?: unknown };
    const isOfFormat = typeof schema.format === 'string' && schema.format in BY_FORMAT;
    if (isOfFormat && typeof schema.example === 'string') delete schema.example;
    if (schema.nullable === true && schema.example === null) delete schema.example;
  };
  drop(document.components?.schemas ?? {});
}

/** The example of a response with this schema, as viewers of the document compose it. */
export const exampleOfAnswer = (document: OpenAPIObject, schema: object): unknown =>
  new Examples(schemasOf(document), true).of(schema);

function addTo(body: ExampleContent | undefined, examples: Examples): void {
  const media = body?.content?.[JSON_TYPE];
  if (!media?.schema || media.example !== undefined || media.examples !== undefined) return;
  media.example = examples.of(media.schema);
}

class Examples {
  private readonly open = new Set<string>();

  constructor(
    private readonly schemas: Readonly<Record<string, OpenApiSchema>>,
    private readonly isWhole: boolean,
  ) {}

  of(schema: OpenApiSchema): unknown {
    const said = [schema.example, schema.default, schema.enum?.[0]].find((each) => each !== undefined);
    if (said !== undefined) return said;
    if (schema.$ref !== undefined) return this.named(nameIn(schema) ?? '');
    const [first] = schema.oneOf ?? schema.allOf ?? [];
    if (first) return this.of(first);
    return this.plain(schema);
  }

  private plain(schema: OpenApiSchema): unknown {
    if (schema.properties) return this.object(schema);
    if (schema.nullable) return null;
    if (schema.type === 'array') return this.list(schema.items);
    if (schema.type === 'string') return BY_FORMAT[schema.format ?? ''] ?? '…';
    if (schema.type === 'boolean') return false;
    return schema.type === 'object' ? {} : (schema.minimum ?? 0);
  }

  /** A recursive schema ends at the second occurrence. */
  private named(name: string): unknown {
    const schema = this.schemas[name];
    if (!schema || this.open.has(name)) return undefined;
    this.open.add(name);
    const example = this.of(schema);
    this.open.delete(name);
    return example;
  }

  private list(items: OpenApiSchema | undefined): readonly unknown[] {
    const example = items && this.of(items);
    return example === undefined ? [] : [example];
  }

  private object({ properties = {}, required = [] }: OpenApiSchema): Readonly<Record<string, unknown>> {
    const names = Object.keys(properties);
    const sent = names.filter((name) => required.includes(name) || USUALLY_SENT.includes(name));
    const optional = names.filter((name) => properties[name]?.example !== undefined).slice(0, 1);
    const shown = this.isWhole ? names : sent.length > 0 ? sent : optional;
    return Object.fromEntries(shown.map((name) => [name, this.of(properties[name] ?? {})]));
  }
}
