/**
 * Checks the names of types and of exported values below `src`. The name of a type (interface, alias, class or enum, exported or private, at
 * any depth, in tests too) has one home, and so has that of an exported function or constant. No type is a bare participle such as `Asked` or
 * `Sending`, which does not name its subject. `check-words.mjs` checks the words of all names. `--root` checks another folder than the
 * project's.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const { values } = parseArgs({ options: { root: { type: 'string' } } });
const root = resolve(values.root ?? join(dirname(fileURLToPath(import.meta.url)), '..'));

const REGULAR = /^[A-Z][a-z]*(?:ed|ing)$/;
const IRREGULAR = new Set(
  'Begun Bought Built Chosen Cut Done Drawn Found Given Gone Held Kept Known Left Lost Made Meant Met Put Read Rebuilt Rewritten Said Seen Sent Spoken Swept Taken Told Written'.split(
    ' ',
  ),
);
/** Nouns of the field that look like participles. */
const NOUNS = new Set(
  'Beginning Embedding Ending Finding Framing Grouping Heading Listing Meaning Need Pricing Reading Reasoning Recording Routing Setting Spelling Thing Tooling'.split(
    ' ',
  ),
);
const isParticiple = (name) => IRREGULAR.has(name) || (REGULAR.test(name) && !NOUNS.has(name));

const isType = (node) =>
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isEnumDeclaration(node);

/** Names that a statement at the top of a module exports as values. */
function exportedValues(statement) {
  const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
  if (!isExported) return [];
  // Overloads have no body.
  if (ts.isFunctionDeclaration(statement)) return statement.body && statement.name ? [statement.name.text] : [];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations
    .map(({ name }) => name)
    .filter(ts.isIdentifier)
    .map(({ text }) => text);
}

/** The types that a file declares, within functions too, and the values that it exports. */
function namesIn(path) {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, false);
  const types = [];
  const visit = (node) => {
    // An augmentation must repeat the name of the package's type.
    if (ts.isModuleDeclaration(node)) return;
    if (isType(node)) types.push(node.name?.text ?? '');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { types, values: file.statements.flatMap(exportedValues) };
}

const problems = [];
/** Files by declared name. */
const homes = { types: new Map(), values: new Map() };
const files = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => file.endsWith('.ts'));
for (const file of files.sort()) {
  const names = namesIn(join(root, 'src', file));
  for (const name of names.types)
    if (isParticiple(name))
      problems.push(`src/${file}: "${name}" is a bare participle. Name what it is: a noun with its subject.`);
  for (const kind of ['types', 'values'])
    for (const name of names[kind]) homes[kind].set(name, (homes[kind].get(name) ?? new Set()).add(file));
}
for (const [kind, verb] of [
  ['types', 'declared'],
  ['values', 'exported'],
])
  for (const [name, places] of homes[kind])
    if (places.size > 1)
      problems.push(`"${name}" is ${verb} by src/${[...places].join(', src/')}. Give each a name of its own.`);

for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
