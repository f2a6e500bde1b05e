import type { OpenAPIObject } from '@nestjs/swagger';
import { nameIn, operationsOf, type OpenApiSchema, schemasOf } from './parts.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface ShareableOperation {
  parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Record<string, object>;
}

/** A part of the document and its occurrences. */
interface RepeatedPart {
  readonly name: string;
  readonly part: object;
  readonly places: ((reference: object) => void)[];
}

/** Collects equal parts, by content. */
class Repetitions {
  private readonly found = new Map<string, RepeatedPart>();

  add(name: string, part: object, place: (reference: object) => void): void {
    const key = `${name} ${JSON.stringify(part)}`;
    const known = this.found.get(key) ?? { name, part, places: [] };
    known.places.push(place);
    this.found.set(key, known);
  }

  /**
   * Moves the most frequent part of each name into `shared` and replaces its occurrences by references. Other parts of that name stay:
   * numbered names would change with every new operation.
   */
  share(root: string, shared: Record<string, object>, fewest: number): void {
    const repeated = [...this.found.values()].filter(({ places }) => places.length >= fewest);
    for (const { name, part, places } of repeated.sort((a, b) => b.places.length - a.places.length)) {
      if (Object.hasOwn(shared, name)) continue;
      shared[name] = part;
      for (const place of places) place({ $ref: `${root}${name}` });
    }
  }
}

/** Defines a parameter of several operations once, and replaces its occurrences by references. */
export function shareParameters(document: OpenAPIObject): void {
  const repetitions = new Repetitions();
  for (const operation of operationsOf<ShareableOperation>(document)) {
    const parameters = [...(operation.parameters ?? [])];
    operation.parameters = parameters;
    for (const [index, parameter] of parameters.entries())
      repetitions.add((parameter as Parameter).name, parameter, (reference) => {
        parameters[index] = reference;
      });
  }
  const shared: Record<string, object> = {};
  repetitions.share('#/components/parameters/', shared, 2);
  document.components = { ...document.components, parameters: shared as never };
}

/** What is shared, and its least number of occurrences: objects, then remaining fields of many bodies. */
const SHARED: readonly (readonly [fewest: number, isShared: (schema: OpenApiSchema) => boolean])[] = [
  [2, ({ properties = {} }) => Object.keys(properties).length > 1],
  [3, ({ $ref, ...schema }) => $ref === undefined && JSON.stringify(schema).length > 90],
];

/** Defines a field of several bodies once, under its name. */
export function shareSchemas(document: OpenAPIObject): void {
  const schemas = { ...schemasOf(document) };
  const bodies = operationsOf<ShareableOperation>(document).flatMap(({ requestBody, responses }) => [
    ...(requestBody ? [requestBody] : []),
    ...Object.values(responses),
  ]);
  for (const [fewest, isShared] of SHARED) {
    const repetitions = new Repetitions();
    const collect = (properties: Record<string, OpenApiSchema>): void => {
      for (const [name, schema] of Object.entries(properties))
        if (isShared(schema))
          repetitions.add(pascal(name), schema, (reference) => {
            properties[name] = reference;
          });
    };
    for (const part of [...Object.values(schemas), ...bodies]) walkProperties(part, collect);
    repetitions.share('#/components/schemas/', schemas, fewest);
  }
  document.components = { ...document.components, schemas: schemas as never };
}

function walkProperties(part: object, visit: (properties: Record<string, OpenApiSchema>) => void): void {
  for (const [key, value] of Object.entries(part) as [string, unknown][]) {
    if (typeof value !== 'object' || value === null || key === 'example') continue;
    if (key === 'properties') visit(value as Record<string, OpenApiSchema>);
    walkProperties(value, visit);
  }
}

/** `log_redaction` becomes `LogRedaction`. */
const pascal = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Defines each error, and each response of several operations, once. */
export function shareResponses(document: OpenAPIObject): void {
  const [errors, others] = [new Repetitions(), new Repetitions()];
  for (const { responses } of operationsOf<ShareableOperation>(document))
    for (const [status, response] of Object.entries(responses)) {
      const { code, name } = namesOf(response);
      if (name === undefined) continue;
      (code === undefined ? others : errors).add(name, response, (reference) => {
        responses[status] = reference;
      });
    }
  const shared = { ...document.components?.responses } as Record<string, object>;
  errors.share('#/components/responses/', shared, 1);
  others.share('#/components/responses/', shared, 2);
  document.components = { ...document.components, responses: shared as never };
}

interface ShareableResponse {
  readonly content?: Readonly<
    Record<
      string,
      { readonly schema?: OpenApiSchema; readonly example?: { readonly error?: { readonly code: string } } }
    >
  >;
}

/** The code of an error, and the name of the response: that code, or that of its schema. */
function namesOf({ content }: ShareableResponse): { readonly code?: string; readonly name?: string } {
  const media = content?.['application/json'];
  const code = media?.example?.error?.code;
  return { code, name: code ?? nameIn(media?.schema)?.replace(/Dto$/, '') };
}
