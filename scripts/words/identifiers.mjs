/**
 * The names that the code declares: types, functions, methods, fields, variables and parameters. Names with an underscore are names on the
 * wire or in the database, which never change, so they are left out.
 */
import { readFile } from 'node:fs/promises';
import { filesBelow } from './files.mjs';

const FOLDERS = ['src', 'dashboard/src'];
const GENERATED = new Set(['dashboard/src/api/schema.d.ts', 'dashboard/src/routeTree.gen.ts']);

/** Migrations are history. */
const isExcluded = (path) =>
  /\bspec\.tsx?$/.test(path) || path.startsWith('src/schema/migrations/') || GENERATED.has(path);

/** `KeptRow` and `keptRow` become `kept row`. */
const wordsOf = (name) =>
  name
    .replace(/^#/, '')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase();

/** Constants are in capitals, with underscores. */
const isWireName = (name) => name.includes('_') && name !== name.toUpperCase();

function declaredBelow(ts, node, found = []) {
  const isDeclared = ts.isIdentifier(node) || ts.isPrivateIdentifier(node);
  if (isDeclared && node.parent.name === node && isDeclaration(ts, node.parent) && !isWireName(node.text))
    found.push(wordsOf(node.text.replaceAll('_', ' ')));
  ts.forEachChild(node, (child) => void declaredBelow(ts, child, found));
  return found;
}

/** Not an import or export, which repeats a name that is declared elsewhere, nor a field of a literal, which the type declares. */
const isDeclaration = (ts, node) =>
  ts.isVariableDeclaration(node) ||
  ts.isParameter(node) ||
  ts.isBindingElement(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isClassElement(node) ||
  ts.isTypeElement(node) ||
  ts.isClassDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isTypeParameterDeclaration(node);

/** Files below `root`, specs excluded: path and declared names in words, one a line, each ended so that no match spans two names. */
export async function identifiersOf(root) {
  const listed = await Promise.all(
    FOLDERS.flatMap((folder) => ['.ts', '.tsx'].map((ending) => filesBelow(root, folder, ending))),
  );
  const paths = listed.flat().filter((path) => !isExcluded(path));
  if (paths.length === 0) return [];
  // Loading the compiler takes seconds on a busy machine.
  const { default: ts } = await import('typescript');
  return Promise.all(
    paths.map(async (path) => {
      const tree = ts.createSourceFile(
        path,
        await readFile(`${root}/${path}`, 'utf8'),
        ts.ScriptTarget.Latest,
        true,
      );
      return [path, declaredBelow(ts, tree).join('.\n')];
    }),
  );
}
