/**
 * The arrows between the rooms of `src`, read from the imports of its files, as a Mermaid flowchart for docs/architecture.md. Specs are left
 * out, because tests may see more than what ships.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));

/** The files directly below `src`: the entries of the processes and their Nest modules. */
const ENTRIES = 'entries';
const LABELS = { [ENTRIES]: 'main · administration · worker' };

/** The room of a path below `src`. */
const roomOf = (path) => (path.includes(sep) ? path.split(sep)[0] : ENTRIES);

/** Which rooms each room imports: `Map<room, Set<room>>`. */
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

/** Whether a way of two arrows or more leads there, which makes a direct arrow say nothing new. */
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

/** Arrows that follow from others are left out: whoever may see a room may see what that one stands on. */
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
