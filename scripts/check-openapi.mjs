/**
 * Checks of openapi.json that linters have no rule for: every group, operation, parameter and field has a description, summaries are in the
 * imperative, and every example is valid by its schema. Prints the number of each, and fails for each violation.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';

/** Editors and generators load larger documents slowly. */
const LARGEST_BYTES = 900_000;
const NO_IMPERATIVE = /^(?:what|who|where|how|whether|the|an?)\b/i;

const path = process.argv[2] ?? fileURLToPath(new URL('../openapi.json', import.meta.url));
const text = readFileSync(path, 'utf8');
const document = JSON.parse(text);

const counts = {};
const problems = [];

/** A description has at least two words: one would repeat the name. */
function expectDescription(kind, where, { description = '' }) {
  counts[kind] ??= [0, 0];
  counts[kind][1]++;
  if (/\S\s+\S/.test(description)) counts[kind][0]++;
  else problems.push(`${where} has no description.`);
}

/** Amounts of money. Four units are in use, so each description says its own. */
const MONEY = /(?:^|_)(?:cost|credit_limit|price|usd)(?:_|$)|nano_?usd|cache_saved/i;
const UNIT = /cents?\b|dollars?\b|USD/i;

function expectUnit(name, where, property) {
  const { description, type, oneOf } = resolved(property);
  const parts = [type, ...(oneOf ?? []).map((part) => resolved(part).type)];
  if (!MONEY.test(name) || !parts.some((each) => each === 'number' || each === 'integer')) return;
  counts['amounts of money'] ??= [0, 0];
  counts['amounts of money'][1]++;
  if (UNIT.test(description ?? property.description ?? '')) counts['amounts of money'][0]++;
  else problems.push(`${where} does not say its unit of money.`);
}

const isObject = (value) => typeof value === 'object' && value !== null;
const resolved = (part) => {
  const found = part?.$ref
    ?.split('/')
    .slice(1)
    .reduce((node, key) => node[key], document);
  return found ?? part;
};

const partsOf = ({ items, additionalProperties, oneOf = [], allOf = [] }) =>
  [items, additionalProperties, ...oneOf, ...allOf].filter(isObject);

/** Fields of a schema and of all nested schemas. */
function checkFields(schema, where) {
  if (!isObject(schema)) return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    expectDescription('fields', `${where}.${name}`, resolved(property));
    expectUnit(name, `${where}.${name}`, property);
    checkFields(property, `${where}.${name}`);
  }
  for (const part of partsOf(schema)) checkFields(part, `${where}[]`);
}

const mapValues = (object, map) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));

/** OpenAPI 3.0 is not JSON Schema: https://spec.openapis.org/oas/v3.0.3#schema-object */
function asJsonSchema(schema) {
  if (!isObject(schema)) return schema;
  if (schema.$ref) return { $ref: `openapi.json${schema.$ref}` };
  const { nullable, exclusiveMinimum, ...kept } = schema;
  delete kept.example;
  if (kept.properties) kept.properties = mapValues(kept.properties, asJsonSchema);
  for (const key of ['items', 'additionalProperties']) if (key in kept) kept[key] = asJsonSchema(kept[key]);
  for (const key of ['oneOf', 'allOf']) if (key in kept) kept[key] = kept[key].map(asJsonSchema);
  if (exclusiveMinimum === true) {
    kept.exclusiveMinimum = kept.minimum;
    delete kept.minimum;
  }
  return nullable === true ? { anyOf: [kept, { type: 'null' }] } : kept;
}

const ajv = new Ajv.default({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({
  $id: 'openapi.json',
  components: { schemas: mapValues(document.components.schemas, asJsonSchema) },
});

function checkExample(schema, example, where) {
  counts.examples ??= [0, 0];
  counts.examples[1]++;
  const validate = ajv.compile(asJsonSchema(schema));
  if (validate(example)) counts.examples[0]++;
  else
    problems.push(
      `${where} has an example that its schema forbids: ${ajv.errorsText(validate.errors, { dataVar: 'example' })}`,
    );
}

function checkFieldExamples(schema, where) {
  if (!isObject(schema)) return;
  if (schema.example !== undefined) checkExample(schema, schema.example, where);
  if (schema.default !== undefined) checkExample(schema, schema.default, `${where} (default)`);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkFieldExamples(property, `${where}.${name}`);
  for (const part of partsOf(schema)) checkFieldExamples(part, `${where}[]`);
}

function checkBody({ content = {} }, where) {
  for (const [type, { schema, example }] of Object.entries(content)) {
    checkFields(schema, `${where} ${type}`);
    checkFieldExamples(schema, `${where} ${type}`);
    if (schema && example !== undefined) checkExample(schema, example, `${where} ${type}`);
  }
}

for (const tag of document.tags) expectDescription('groups', `The group "${tag.name}"`, tag);
for (const [name, parameter] of Object.entries(document.components.parameters ?? {}))
  expectDescription('parameters', `The parameter "${name}"`, parameter);
for (const [name, schema] of Object.entries(document.components.schemas)) {
  checkFields(schema, name);
  checkFieldExamples(schema, name);
}
for (const [name, body] of Object.entries({
  ...document.components.responses,
  ...document.components.requestBodies,
}))
  checkBody(body, name);

const groups = new Set(document.tags.map(({ name }) => name));
const operations = Object.entries(document.paths).flatMap(([route, methods]) =>
  Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${route}`, operation]),
);

for (const [where, operation] of operations) {
  const { summary = '', deprecated, tags = [], parameters = [], requestBody, responses } = operation;
  expectDescription('operations', where, operation);
  if (summary === '' || NO_IMPERATIVE.test(summary))
    problems.push(`The summary of ${where} is not in the imperative: "${summary}".`);
  if (deprecated) problems.push(`${where} is deprecated: leave it out of the document.`);
  for (const tag of tags)
    if (!groups.has(tag)) problems.push(`${where} is in the group "${tag}", which is not described.`);
  for (const parameter of parameters.filter(({ $ref }) => !$ref))
    expectDescription('parameters', `${where}: the parameter "${parameter.name}"`, parameter);
  if (requestBody && !requestBody.$ref) checkBody(requestBody, where);
  for (const [status, response] of Object.entries(responses)) {
    if (!resolved(response).description) problems.push(`${where}: the answer ${status} has no description.`);
    if (!response.$ref) checkBody(response, `${where} ${status}`);
  }
}

if (Buffer.byteLength(text) >= LARGEST_BYTES)
  problems.push(`openapi.json has ${Buffer.byteLength(text)} bytes. It must stay below ${LARGEST_BYTES}.`);

const told = Object.entries(counts).map(([kind, [good, all]]) => `${good} of ${all} ${kind}`);
console.log(`openapi.json: ${Buffer.byteLength(text)} bytes; described or valid: ${told.join(', ')}.`);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
