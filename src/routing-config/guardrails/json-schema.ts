import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { linearPattern } from './linear-pattern.js';

const SCHEMA_CHARS_MAX = 64 * 1024;
/** Maximum number of nodes that a validator may visit for one value, references followed. */
const EXPANDED_MAX = 10_000;
const DEEPEST = 64;

/** Keywords whose cost exceeds the length of the text, or that lead out of the schema. */
const REFUSED: Readonly<Record<string, string>> = {
  $dynamicRef: 'only "$ref" is followed',
  $recursiveRef: 'only "$ref" is followed',
  $id: 'a schema has no URL here; refer to "#/$defs/..."',
  uniqueItems: 'it would compare every item with every other',
};

type JsonSchemaObject = Readonly<Record<string, unknown>>;

/**
 * The validator of a JSON Schema (draft 7, with `$defs`): compiled once, with patterns on the linear-time engine. Throws an Error that
 * names the problem. https://ajv.js.org/options.html#code
 */
export function jsonSchemaValidator(schema: JsonSchemaObject): ValidateFunction {
  if (JSON.stringify(schema).length > SCHEMA_CHARS_MAX)
    throw new Error(`it is longer than ${SCHEMA_CHARS_MAX} characters`);
  expand(schema, { root: schema, open: [], visited: 0 }, 0);
  const regExp = Object.assign((pattern: string) => testerOf(pattern), { code: 'linearPattern' });
  const ajv = new Ajv({ strict: false, validateFormats: true, code: { regExp }, logger: false });
  addFormats.default(ajv, { mode: 'fast', keywords: false });
  return ajv.compile(schema);
}

function testerOf(pattern: string): { test(text: string): boolean } {
  const compiled = linearPattern(pattern);
  return { test: (text) => compiled.matcher(text).find() };
}

interface Expansion {
  readonly root: JsonSchemaObject;
  readonly open: unknown[];
  visited: number;
}

/**
 * Follows every reference, as the validator would. A schema that is recursive, or that refers repeatedly to large parts, could take
 * unlimited time and is refused.
 */
function expand(node: unknown, expansion: Expansion, depth: number): void {
  if (typeof node !== 'object' || node === null) return;
  if (depth > DEEPEST) throw new Error(`it is nested deeper than ${DEEPEST} levels`);
  if (++expansion.visited > EXPANDED_MAX) throw new Error('its references expand to too many places');
  if (expansion.open.includes(node)) throw new Error('it refers to itself, which is not supported');
  expansion.open.push(node);
  for (const [name, inner] of Object.entries(node)) {
    checkKeyword(name, inner);
    const isReference = name === '$ref' && typeof inner === 'string';
    expand(isReference ? resolved(inner, expansion.root) : inner, expansion, depth + 1);
  }
  expansion.open.pop();
}

function checkKeyword(name: string, value: unknown): void {
  const reason = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
  if (reason !== undefined && value !== false) throw new Error(`"${name}" is not supported: ${reason}`);
}

/** https://www.rfc-editor.org/rfc/rfc6901 */
function resolved(reference: string, root: JsonSchemaObject): unknown {
  if (!reference.startsWith('#'))
    throw new Error(`"$ref" may only point into the schema itself, as "#/$defs/..."`);
  let at: unknown = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at =
      typeof at === 'object' && at !== null && Object.hasOwn(at, name)
        ? (at as JsonSchemaObject)[name]
        : undefined;
  }
  if (at === undefined) throw new Error(`"$ref" points to "${reference.slice(0, 64)}", which does not exist`);
  return at;
}
