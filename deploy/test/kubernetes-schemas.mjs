/**
 * Writes JSON schemas for kubeconform: `node kubernetes-schemas.mjs <out> <folder of kubernetes-validate's strict schemas> <folder of CRDs>…`
 *
 * The schemas of Kubernetes refer to one file of definitions by an absolute address; here each gets the definitions that it reaches. Custom
 * resource definitions become schemas that refuse unknown fields. Files are named as in kubeconform's `{{.ResourceKind}}{{.KindSuffix}}`.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const [out, kubernetes, ...resourceFolders] = process.argv.slice(2);
if (resourceFolders.length === 0)
  throw new Error('Usage: kubernetes-schemas.mjs <out> <kubernetes schemas> <folder of CRDs>…');
mkdirSync(out, { recursive: true });

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const definitions = readJson(join(kubernetes, '_definitions.json')).$defs;

/** The schema with references into itself, and the names that it refers to. */
function localized(schema, names) {
  const text = JSON.stringify(schema).replace(/"\$ref":"[^"]*#\/\$defs\/([^"]+)"/g, (_, name) => {
    names.add(name);
    return `"$ref":"#/$defs/${name}"`;
  });
  return JSON.parse(text);
}

function standalone(schema) {
  const names = new Set();
  const alone = localized(schema, names);
  const $defs = {};
  // A set that grows while it is read.
  for (const name of names) $defs[name] = localized(definitions[name], names);
  return { ...alone, $defs };
}

/** As the API server prunes, but as an error. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const result = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if (result['x-kubernetes-int-or-string']) {
    delete result.anyOf;
    result.type = ['integer', 'string'];
  }
  const isOpen = 'additionalProperties' in result || result['x-kubernetes-preserve-unknown-fields'];
  if (result.type === 'object' && result.properties && !isOpen) result.additionalProperties = false;
  return result;
}

let written = 0;
const write = (name, schema) => {
  writeFileSync(join(out, `${name}.json`), JSON.stringify(schema));
  written += 1;
};

for (const file of readdirSync(kubernetes).filter((name) => !/^(_|all)/.test(name))) {
  const schema = readJson(join(kubernetes, file));
  if (schema.properties?.kind && schema.properties.apiVersion)
    write(file.slice(0, -'.json'.length), standalone(schema));
}

const documentsOf = (path) =>
  parseAllDocuments(readFileSync(path, 'utf8')).map((document) => document.toJS() ?? {});
const definitionsIn = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => documentsOf(join(folder, name)))
    .filter(({ kind }) => kind === 'CustomResourceDefinition');

for (const { spec } of resourceFolders.flatMap(definitionsIn))
  for (const { name, schema } of spec.versions) {
    const resource = closed(schema.openAPIV3Schema);
    resource.properties.metadata = { type: 'object' };
    write(`${spec.names.kind.toLowerCase()}-${spec.group.split('.')[0]}-${name}`, resource);
  }
console.log(`${written} schemas in ${out}`);
