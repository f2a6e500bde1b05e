import type { Json } from '../../endpoint.js';
import { isObject, list, objectOf } from '../../endpoints/reading.js';

/** Keywords that contain one schema, a list of schemas, or schemas by name. https://json-schema.org/draft/2020-12/schema */
const ONE = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'];
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];

const RENAMED: ReadonlyMap<string, string> = new Map([['definitions', '$defs']]);

type Rewrite = (value: unknown) => readonly [keyword: string, value: unknown] | null;

const REWRITTEN: ReadonlyMap<string, Rewrite> = new Map<string, Rewrite>([
  [
    '$ref',
    (value) => (typeof value === 'string' ? ['$ref', value.replace(/^#\/definitions\//, '#/$defs/')] : null),
  ],
  ['const', (value) => (typeof value === 'string' || typeof value === 'number' ? ['enum', [value]] : null)],
]);

/** Schemas nested deeper than this are passed on unchanged. */
const DEPTH = 100;

/**
 * A JSON Schema in the form that Gemini reads: `parametersJsonSchema` and `responseJsonSchema` accept JSON Schema with `$ref` and `$defs`,
 * and ignore most unknown keywords. Three constructs would be lost or refused and are rewritten: `definitions` becomes `$defs`; `const`
 * becomes an `enum` of one; a `$ref` must have no sibling keywords, so it moves into an `anyOf` of one.
 * https://ai.google.dev/api/generate-content#GenerationConfig (responseJsonSchema)
 */
export function geminiJsonSchema(schema: unknown, depth = DEPTH): unknown {
  if (!isObject(schema) || depth === 0) return schema;
  const entries = Object.entries(schema).map(([keyword, value]) => entryOf(keyword, value, depth - 1));
  return bareReference(Object.fromEntries(entries));
}

function entryOf(keyword: string, value: unknown, depth: number): readonly [string, unknown] {
  if (ONE.includes(keyword)) return [keyword, geminiJsonSchema(value, depth)];
  if (MANY.includes(keyword)) return [keyword, list(value).map((item) => geminiJsonSchema(item, depth))];
  if (NAMED.includes(keyword)) {
    const schemas = Object.entries(objectOf(value)).map(([name, item]) => [
      name,
      geminiJsonSchema(item, depth),
    ]);
    return [RENAMED.get(keyword) ?? keyword, Object.fromEntries(schemas)];
  }
  return REWRITTEN.get(keyword)?.(value) ?? [keyword, value];
}

function bareReference(schema: Json): Json {
  const { $ref, ...beside } = schema;
  const isAlone = Object.keys(beside).every((keyword) => keyword.startsWith('$'));
  if ($ref === undefined || isAlone || 'anyOf' in beside) return schema;
  return { ...beside, anyOf: [{ $ref }] };
}
