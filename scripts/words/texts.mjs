/** The texts that users read, by location. Code, URLs and generated pages are excluded: their texts come from the source. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesBelow } from './files.mjs';

/** Pages that `npm run generate` writes. The check reads their texts at the source. */
const GENERATED = new Set(
  ['settings', 'errors', 'scopes', 'permissions', 'providers', 'endpoints'].map((name) => `docs/${name}.md`),
);

/** TypeScript files whose string literals are texts for users, relative to `src`. */
const SOURCES = {
  errors: /\/errors\/([\w-]+-errors|catalog)\.ts$/,
  settings: /\/settings\/([\w-]+-)?settings-schema\.ts$/,
  cli: /^src\/(launcher|cli)\/.*\.ts$/,
};

/** Prose of a page, one line each: without code, URLs and generated parts. */
export function proseOf(markdown) {
  return markdown
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/<!-- generated[\s\S]*?<!-- end of generated[^>]*-->/g, '')
    .replace(/`[^`\n]*`/g, '')
    .replace(/\]\([^)\s]*\)/g, ']')
    .replace(/https?:\/\/\S+/g, '');
}

/** Texts of literals and templates below a node. A literal without white space is a name, not a text. */
function stringsBelow(ts, node, found = []) {
  const isText =
    ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  if (isText && /\s/.test(node.text)) found.push(node.text);
  ts.forEachChild(node, (child) => void stringsBelow(ts, child, found));
  return found;
}

/** Properties whose literals are read by callers (`detail` of an AppError) or operators (`help` of a metric). */
const READ = new Set(['detail', 'help']);

/** Literals of such properties. */
function detailsBelow(ts, node, found = []) {
  if (ts.isPropertyAssignment(node) && READ.has(node.name.getText()))
    stringsBelow(ts, node.initializer, found);
  else ts.forEachChild(node, (child) => void detailsBelow(ts, child, found));
  return found;
}

async function literalsIn(contents, collect) {
  if (contents.length === 0) return '';
  // Loading the compiler takes seconds on a busy machine.
  const { default: ts } = await import('typescript');
  const trees = contents.map((content) =>
    ts.createSourceFile('text.ts', content, ts.ScriptTarget.Latest, true),
  );
  return trees.flatMap((tree) => collect(ts, tree)).join('\n');
}

function descriptionsOf(document) {
  const found = [];
  const visit = (value) => {
    if (value === null || typeof value !== 'object') return;
    for (const [name, part] of Object.entries(value)) {
      if (typeof part !== 'string') visit(part);
      else if (name === 'description' || name === 'summary') found.push(part);
    }
  };
  visit(document);
  return found.join('\n');
}

/** Hand-written pages below `root`: path and content. */
export async function pagesOf(root) {
  const paths = [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    ...(await filesBelow(root, 'docs', '.md')),
  ].filter((path) => !GENERATED.has(path));
  const pages = await Promise.all(
    paths.map(async (path) => [path, await readFile(join(root, path), 'utf8').catch(() => null)]),
  );
  return pages.filter(([, content]) => content !== null);
}

/** All texts below `root`: the name used in the baseline, and the prose. */
export async function textsOf(root) {
  const pages = (await pagesOf(root)).map(([path, content]) => [path, proseOf(content)]);
  const paths = (await filesBelow(root, 'src', '.ts')).filter((path) => !path.endsWith('.spec.ts'));
  const sources = await Promise.all(
    paths.map(async (path) => [path, await readFile(join(root, path), 'utf8')]),
  );
  const literals = Object.entries(SOURCES).map(async ([name, isOne]) => {
    const contents = sources.filter(([path]) => isOne.test(path)).map(([, content]) => content);
    return [name, await literalsIn(contents, stringsBelow)];
  });
  const withDetails = sources
    .map(([, content]) => content)
    .filter((content) => /\b(detail|help):/.test(content));
  const openApi = await readFile(join(root, 'openapi.json'), 'utf8').catch(() => '{}');
  const details = await literalsIn(withDetails, detailsBelow);
  return new Map([
    ...pages,
    ...(await Promise.all(literals)),
    ['details', details],
    ['openapi', descriptionsOf(JSON.parse(openApi))],
  ]);
}
