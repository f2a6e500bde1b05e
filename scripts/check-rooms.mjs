/**
 * Checks that the parts of each folder, its files and its folders, import each other in one direction only. The rules of
 * dependency-cruiser compare folders with folders; this check counts a file beside them as a part of its own.
 *
 * Usage: node scripts/check-rooms.mjs [ROOT ...], by default `src` and `dashboard/src`. Prints each circle with the imports that close it,
 * and ends with exit code 1 if there is one.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import ts from 'typescript';

const SOURCE = /\.tsx?$/;
const NO_SOURCE = /\.(spec|test)\.tsx?$|\.d\.ts$/;
const SUFFIXES = ['', '.ts', '.tsx', '/index.ts', '/index.tsx'];

/** @typedef {{ from: string, to: string }} Import */

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .map((file) => join(folder, file).split(sep).join('/'))
    .filter((file) => SOURCE.test(file) && !NO_SOURCE.test(file) && statSync(file).isFile());
}

/** @returns {Import[]} Imports between the files of one root. */
function importsIn(root) {
  const files = new Set(sourcesIn(root));
  return [...files].flatMap((from) =>
    ts
      .preProcessFile(readFileSync(from, 'utf8'), true, false)
      .importedFiles.map(({ fileName }) => ({ from, to: resolved(root, from, fileName, files) }))
      .filter(({ to }) => to !== undefined && to !== from),
  );
}

function resolved(root, from, name, files) {
  if (!name.startsWith('.') && !name.startsWith('@/')) return undefined;
  const path = name.startsWith('@/') ? `${root}/${name.slice(2)}` : posix.join(dirname(from), name);
  const stem = path.replace(/\.js$/, '');
  return [path, ...SUFFIXES.map((suffix) => stem + suffix)].find((file) => files.has(file));
}

/** The part of a folder that a file belongs to; undefined for files elsewhere. */
function partOf(folder, file) {
  return file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined;
}

function foldersOf(imports, root) {
  const folders = new Set([root]);
  for (const { from } of imports)
    for (let folder = dirname(from); folder.length > root.length; folder = dirname(folder))
      folders.add(folder);
  return [...folders].sort();
}

/** Circles between the parts of a folder: each with the imports between its parts. */
function circlesIn(folder, imports) {
  const arrows = new Map();
  for (const { from, to } of imports) {
    const [one, other] = [partOf(folder, from), partOf(folder, to)];
    if (one === undefined || other === undefined || one === other) continue;
    if (!arrows.has(one)) arrows.set(one, new Map());
    const targets = arrows.get(one);
    targets.set(other, [...(targets.get(other) ?? []), { from, to }]);
  }
  return circlesOf(arrows).map((parts) => ({ folder, parts, imports: between(parts, arrows) }));
}

const between = (parts, arrows) =>
  parts.flatMap((one) => parts.flatMap((other) => arrows.get(one)?.get(other) ?? []));

/** Groups of parts that reach each other. */
function circlesOf(arrows) {
  const reach = new Map([...arrows.keys()].map((part) => [part, reachedFrom(part, arrows)]));
  const circles = new Map();
  for (const [part, reached] of reach) {
    if (!reached.has(part)) continue;
    const parts = [...reached].filter((other) => reach.get(other)?.has(part)).sort();
    circles.set(parts.join(), parts);
  }
  return [...circles.values()];
}

function reachedFrom(part, arrows) {
  const reached = new Set();
  const left = [part];
  while (left.length > 0)
    for (const next of arrows.get(left.pop())?.keys() ?? [])
      if (!reached.has(next)) {
        reached.add(next);
        left.push(next);
      }
  return reached;
}

const roots = process.argv.length > 2 ? process.argv.slice(2) : ['src', 'dashboard/src'];
const circles = roots.flatMap((given) => {
  const root = relative('.', given).split(sep).join('/') || '.';
  const imports = importsIn(root);
  return foldersOf(imports, root).flatMap((folder) => circlesIn(folder, imports));
});
for (const { folder, parts, imports } of circles) {
  console.log(`${folder}: ${parts.join(', ')} import each other in a circle.`);
  for (const { from, to } of imports) console.log(`  ${from} imports ${to}`);
}
if (circles.length > 0) process.exitCode = 1;
else console.log(`No circle between the parts of a folder in ${roots.join(' and ')}.`);
