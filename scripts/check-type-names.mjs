/**
 * Checks the names of types below `src`: the name of an exported type is unique, and no type is a bare participle such as `Asked` or
 * `Sending`, which does not name its subject. `--root` checks another folder than the project's.
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

/** The types declared at the top level of a file: `{ name, isExported }`. */
function typesIn(path) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, false);
  return source.statements
    .filter(
      (node) =>
        ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node),
    )
    .map(({ name, modifiers }) => ({
      name: name?.text ?? '',
      isExported: modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false,
    }));
}

const problems = [];
/** Files by exported name. */
const exported = new Map();
const files = readdirSync(join(root, 'src'), { recursive: true }).filter((file) => /(?<!\.spec)\.ts$/.test(file));
for (const file of files.sort())
  for (const { name, isExported } of typesIn(join(root, 'src', file))) {
    if (isParticiple(name))
      problems.push(`src/${file}: "${name}" is a bare participle. Name what it is: a noun with its subject.`);
    if (isExported) exported.set(name, (exported.get(name) ?? new Set()).add(file));
  }
for (const [name, places] of exported)
  if (places.size > 1)
    problems.push(`"${name}" is exported by src/${[...places].join(', src/')}. Give each a name of its own.`);

for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
