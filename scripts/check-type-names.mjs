/**
 * Checks the names of types below `src`, of every interface, alias, class and enum at any depth: the name of an exported type has one home,
 * so no file that could import it declares it, not even in private; and no type is a bare participle such as `Asked` or `Sending`, which does not name its
 * subject. `check-words.mjs` checks the words of all names. `--root` checks another folder than the project's.
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

/** The types declared in a file, within functions too: `{ name, isExported }`. */
function typesIn(path) {
  const types = [];
  const visit = (node) => {
    if (isType(node))
      types.push({
        name: node.name?.text ?? '',
        isExported: node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false,
      });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ESNext, false));
  return types;
}

/** `gateway` and `admin` never import each other, so a private type of one cannot be mistaken for an exported one of the other. */
const PLANES = new Set(['gateway', 'admin']);
const folderOf = (file) => file.split('/')[0];
const canMeet = (one, other) =>
  folderOf(one) === folderOf(other) || !PLANES.has(folderOf(one)) || !PLANES.has(folderOf(other));

const problems = [];
/** Declarations by name: `{ file, isExported }`. */
const declarations = new Map();
const files = readdirSync(join(root, 'src'), { recursive: true }).filter((file) =>
  /(?<!\.spec)\.ts$/.test(file),
);
for (const file of files.sort())
  for (const { name, isExported } of typesIn(join(root, 'src', file))) {
    if (isParticiple(name))
      problems.push(`src/${file}: "${name}" is a bare participle. Name what it is: a noun with its subject.`);
    declarations.set(name, [...(declarations.get(name) ?? []), { file, isExported }]);
  }
for (const [name, places] of declarations) {
  const homes = new Set(places.map(({ file }) => file));
  const exporters = new Set(places.filter(({ isExported }) => isExported).map(({ file }) => file));
  const others = [...homes].filter(
    (file) => !exporters.has(file) && [...exporters].some((home) => canMeet(home, file)),
  );
  if (exporters.size > 1)
    problems.push(
      `"${name}" is exported by src/${[...exporters].join(', src/')}. Give each a name of its own.`,
    );
  else if (exporters.size === 1 && others.length > 0)
    problems.push(
      `"${name}" of src/${[...exporters].join()} is also declared by src/${others.join(', src/')}. Give each a name of its own.`,
    );
}

for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
