import type { OpenAPIObject } from '@nestjs/swagger';
import { nameIn, type OpenApiSchema, schemasOf } from './parts.js';

interface LinkedOperation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Record<string, LinkedResponse>;
}

interface LinkedResponse {
  readonly content?: Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;
  links?: Record<string, object>;
}

type Methods = Readonly<Record<string, LinkedOperation>>;

/**
 * Links the operation that creates a resource to those that read, change and delete it: `POST /v1/configs` returns the `id` or `slug` for
 * `/v1/configs/{slug}` and below. https://spec.openapis.org/oas/v3.0.3#link-object
 */
export function addLinks(document: OpenAPIObject): void {
  const schemas = schemasOf(document);
  const paths = document.paths as unknown as Readonly<Record<string, Methods>>;
  for (const [path, { post }] of Object.entries(paths)) {
    const answer = post?.responses['200'];
    if (!answer) continue;
    const links = linksBelow(path, paths, (name) => pointerTo(name, answer, schemas));
    if (Object.keys(links).length > 0) answer.links = links;
  }
}

function linksBelow(
  path: string,
  paths: Readonly<Record<string, Methods>>,
  find: (name: string) => string | undefined,
): Record<string, object> {
  const links: Record<string, object> = {};
  for (const [below, methods] of Object.entries(paths)) {
    const name = ofOneThing(path, below);
    const pointer = name === undefined ? undefined : find(name);
    if (name === undefined || pointer === undefined) continue;
    for (const { operationId, parameters = [] } of Object.values(methods))
      if (parameters.some((each) => each.in === 'path' && each.name === name))
        links[operationId] = { operationId, parameters: { [name]: `$response.body#${pointer}` } };
  }
  return links;
}

/** The parameter's name, if `below` is the path of a single resource in `path`: `slug` for `/v1/configs/{slug}`. */
const ofOneThing = (path: string, below: string): string | undefined =>
  below.startsWith(`${path}/{`) ? /^\{(\w+)\}$/.exec(below.slice(path.length + 1))?.[1] : undefined;

/** Where a response has it: a slug as `slug`, an id as `id`, at the top level or in `data`. */
function pointerTo(
  name: string,
  { content }: LinkedResponse,
  schemas: Readonly<Record<string, OpenApiSchema>>,
): string | undefined {
  const top = propertiesOf(content?.['application/json']?.schema, schemas);
  const data = propertiesOf(top['data'], schemas);
  const wanted = name === 'slug' ? ['slug', 'id'] : ['id'];
  for (const each of wanted) {
    if (top[each]) return `/${each}`;
    if (data[each]) return `/data/${each}`;
  }
  return undefined;
}

/** The properties of the schema, or of the one that it refers to. */
const propertiesOf = (
  schema: OpenApiSchema | undefined,
  schemas: Readonly<Record<string, OpenApiSchema>>,
): Readonly<Partial<Record<string, OpenApiSchema>>> =>
  (schemas[nameIn(schema) ?? ''] ?? schema)?.properties ?? {};
