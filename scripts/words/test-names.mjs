/** The names of test cases and their groups: the first argument of `describe`, `it`, `test` and their variants (`it.each(…)(name)`). */
import { readFile } from 'node:fs/promises';
import { filesBelow } from './files.mjs';

const FOLDERS = ['src', 'test', 'dashboard/src', 'dashboard/test'];
const NAMING = new Set(['describe', 'it', 'test']);

/** The identifier that a call begins with: `it` for `it.skipIf(…).each(…)(name)`. */
function firstIdentifierOf(ts, expression) {
  let node = expression;
  while (node !== undefined && !ts.isIdentifier(node)) node = node.expression ?? node.tag;
  return node?.text;
}

/** Text of a literal or template. Placeholders (`${name}`, `$name`) are code, so they are left out. */
function textOf(ts, node) {
  if (ts.isStringLiteralLike(node)) return node.text.replaceAll(/\$[\w.]+/g, '…');
  if (!ts.isTemplateExpression(node)) return null;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…');
}

function namesBelow(ts, node, found = []) {
  if (ts.isCallExpression(node) && NAMING.has(firstIdentifierOf(ts, node.expression))) {
    const name = node.arguments[0] && textOf(ts, node.arguments[0]);
    if (name) found.push(name);
  }
  ts.forEachChild(node, (child) => void namesBelow(ts, child, found));
  return found;
}

/** Test files below `root`: path and names, one a line, each ended so that no match spans two names. */
export async function testNamesOf(root) {
  const paths = (await Promise.all(FOLDERS.map((folder) => filesBelow(root, folder, 'spec.ts')))).flat();
  if (paths.length === 0) return [];
  // Loading the compiler takes seconds on a busy machine.
  const { default: ts } = await import('typescript');
  return Promise.all(
    paths.map(async (path) => {
      const content = await readFile(`${root}/${path}`, 'utf8');
      const tree = ts.createSourceFile(path, content, ts.ScriptTarget.Latest);
      return [path, namesBelow(ts, tree).join('.\n')];
    }),
  );
}
