import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: unknown;
}

interface Operation {
  parameters?: readonly object[];
  security?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

/** A part of the document and the places where it stands. */
interface RepeatedPart {
  readonly name: string;
  readonly part: object;
  readonly places: ((reference: object) => void)[];
}

/** Collects equal parts, by what they say. */
class Repetitions {
  private readonly found = new Map<string, RepeatedPart>();

  add(name: string, part: object, place: (reference: object) => void): void {
    const key = `${name} ${JSON.stringify(part)}`;
    const known = this.found.get(key) ?? { name, part, places: [] };
    known.places.push(place);
    this.found.set(key, known);
  }

  /**
   * Puts the part of each name that stands in most places into `shared`, and a reference into its places. The others of that name stay where
   * they are: numbers behind their names would change with every new operation.
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

/** Says a parameter once that several operations take, and lets them refer to it. */
export function shareParameters(document: OpenAPIObject): void {
  const repetitions = new Repetitions();
  for (const operation of operationsOf<Operation>(document)) {
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

/** What is said once, and in how many places it must stand: objects, then what is left of fields that many bodies have. */
const SHARED: readonly (readonly [fewest: number, isShared: (schema: Schema) => boolean])[] = [
  [2, ({ properties = {} }) => Object.keys(properties).length > 1],
  [3, ({ $ref, ...schema }) => $ref === undefined && JSON.stringify(schema).length > 90],
];

/** Says a field once that stands in several bodies, under its name. */
export function shareSchemas(document: OpenAPIObject): void {
  const schemas = { ...document.components?.schemas } as Record<string, Schema>;
  const bodies = operationsOf<Operation>(document).flatMap(({ requestBody, responses }) => [
    ...(requestBody ? [requestBody] : []),
    ...Object.values(responses),
  ]);
  for (const [fewest, isShared] of SHARED) {
    const repetitions = new Repetitions();
    const collect = (properties: Record<string, Schema>): void => {
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

function walkProperties(part: object, visit: (properties: Record<string, Schema>) => void): void {
  for (const [key, value] of Object.entries(part) as [string, unknown][]) {
    if (typeof value !== 'object' || value === null || key === 'example') continue;
    if (key === 'properties') visit(value as Record<string, Schema>);
    walkProperties(value, visit);
  }
}

/** `log_redaction` becomes `LogRedaction`. */
const pascal = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Says an answer once that several operations give. */
export function shareAnswers(document: OpenAPIObject): void {
  const repetitions = new Repetitions();
  for (const { responses } of operationsOf<Operation>(document))
    for (const [status, response] of Object.entries(responses)) {
      const name = schemaOf(response)?.replace(/Dto$/, '');
      if (name === undefined) continue;
      repetitions.add(name, response, (reference) => {
        (responses as Record<string, object>)[status] = reference;
      });
    }
  const shared = { ...document.components?.responses } as Record<string, object>;
  repetitions.share('#/components/responses/', shared, 2);
  document.components = { ...document.components, responses: shared as never };
}

interface Answer {
  readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>;
}

const schemaOf = ({ content }: Answer): string | undefined =>
  content?.['application/json']?.schema?.$ref?.split('/').at(-1);

/** Declares once what most operations require, and removes it where an operation requires exactly that. */
export function shareSecurity(
  document: OpenAPIObject,
  usual: readonly Readonly<Record<string, string[]>>[],
): void {
  document.security = [...usual];
  const told = JSON.stringify(usual);
  for (const operation of operationsOf<Operation>(document))
    if (JSON.stringify(operation.security) === told) delete operation.security;
}
