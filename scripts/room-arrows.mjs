/**
 * The dependencies between the top-level folders of `src`, from the imports of their files, as a Mermaid flowchart for
 * docs/architecture.md. Specs are excluded, because tests may import more than shipped code.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));

/** The files directly below `src`: the entry points of the processes and their Nest modules. */
const ENTRIES = 'entries';
const LABELS = { [ENTRIES]: 'main · administration · worker' };

/** The top-level folder of a path below `src`. */
const roomOf = (path) => (path.includes(sep) ? path.split(sep)[0] : ENTRIES);

/** Imports between top-level folders: `Map<room, Set<room>>`. */
function importsOfRooms() {
  const imports = new Map();
  const files = readdirSync(SOURCE, { recursive: true }).filter((file) => /(?<!\.spec)\.ts$/.test(file));
  for (const file of files.sort()) {
    const room = roomOf(file);
    const seen = imports.get(room) ?? new Set();
    imports.set(room, seen);
    const { importedFiles } = ts.preProcessFile(readFileSync(join(SOURCE, file), 'utf8'), true, true);
    for (const { fileName } of importedFiles) {
      const path = join(SOURCE, dirname(file), fileName.replace(/\.js$/, '.ts'));
      if (!fileName.startsWith('.') || !existsSync(path)) continue;
      const other = roomOf(relative(SOURCE, path));
      if (other !== room) seen.add(other);
    }
  }
  return imports;
}

/** Whether a path of two or more arrows leads there, which makes a direct arrow redundant. */
function isImplied(imports, from, to) {
  const seen = new Set();
  const rest = [...imports.get(from)].filter((room) => room !== to);
  for (let room = rest.pop(); room !== undefined; room = rest.pop()) {
    if (room === to) return true;
    if (seen.has(room)) continue;
    seen.add(room);
    rest.push(...(imports.get(room) ?? []));
  }
  return false;
}

/** Implied arrows are omitted: a folder may import everything that its imports depend on. */
export function roomArrows() {
  const imports = importsOfRooms();
  const lines = [...imports.keys()].sort().flatMap((from) =>
    [...imports.get(from)]
      .sort()
      .filter((to) => !isImplied(imports, from, to))
      .map((to) => `  ${from} --> ${to}`),
  );
  const labels = Object.entries(LABELS).map(([room, label]) => `  ${room}["${label}"]`);
  return ['```mermaid', 'flowchart TD', ...labels, ...lines, '```'].join('\n');
}
