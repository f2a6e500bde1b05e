import type { Json } from '../endpoint.js';
import { isObject, list } from '../endpoints/reading.js';

/** A caller's schema may be nested without limit; below this depth, values are null. */
const MAX_DEPTH = 6;
/** Further properties are left out, so that a small schema cannot cause a large response. */
const MAX_PROPERTIES = 64;

/**
 * A value that fits a JSON schema, always the same for the same schema: the default, the first example or choice, or else the simplest
 * value of the type. Keywords that narrow a value further are ignored.
 */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  const given = firstGiven(schema);
  if (given !== undefined) return given;
  const variant = list(schema.anyOf ?? schema.oneOf)[0];
  return variant === undefined ? typedSample(schema, depth) : sampleOf(variant, depth + 1);
}

function typedSample(schema: Json, depth: number): unknown {
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object' || isObject(schema.properties)) return objectSample(schema, depth);
  if (type === 'array') return [sampleOf(schema.items, depth + 1)];
  return plain(type);
}

function firstGiven(schema: Json): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  return list(schema.enum)[0] ?? list(schema.examples)[0];
}

function objectSample(schema: Json, depth: number): unknown {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return Object.fromEntries(
    properties.slice(0, MAX_PROPERTIES).map(([name, inner]) => [name, sampleOf(inner, depth + 1)]),
  );
}

function plain(type: unknown): unknown {
  switch (type) {
    case 'string':
      return 'sandbox';
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    default:
      return null;
  }
}
