import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** What a program does with an error, as the table of docs/clients.md says. */
export interface Reaction {
  /** When its user sees the gateway's sentence; `own text`: it shows another one instead. */
  readonly shown: 'at once' | 'after retries' | '> 60 s' | 'own text';
  /** Requests until it gives up; null if it still repeats them after a minute. */
  readonly requests: number | null;
}

const PAGE = resolve(import.meta.dirname, '../../../../docs/clients.md');
const HEADING = '## Errors in coding agents\n';
const CELL = /^(at once|\d+ s|own text), (\d+) requests?$/;

const cellsOf = (row: string): readonly string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

function rows(): readonly (readonly string[])[] {
  const page = readFileSync(PAGE, 'utf8');
  const at = page.indexOf(HEADING);
  if (at < 0) throw new Error(`docs/clients.md has no section "${HEADING.trim()}".`);
  const section = page.slice(at + HEADING.length).split('\n## ', 1)[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map(cellsOf);
}

function reaction(cell: string): Reaction {
  if (cell === '> 60 s') return { shown: '> 60 s', requests: null };
  if (cell === 'at once, repeats') return { shown: 'at once', requests: null };
  const [, when, requests] = CELL.exec(cell) ?? [];
  if (when === undefined) throw new Error(`docs/clients.md: "${cell}" is no cell of the table of errors.`);
  const shown = when === 'at once' || when === 'own text' ? when : 'after retries';
  return { shown, requests: Number(requests) };
}

/** The programs of the table's head, with their versions: `Codex CLI 0.171.0`. */
export const documentedPrograms = (): readonly string[] => rows()[0]?.slice(1) ?? [];

/** The reaction of a program, by its name and version, to an error. */
export function documentedReaction(program: string, error: string): Reaction {
  const column = documentedPrograms().indexOf(program) + 1;
  const cell = rows().find(([name]) => name === error)?.[column];
  if (column === 0 || cell === undefined)
    throw new Error(`docs/clients.md does not say what ${program} does with ${error}.`);
  return reaction(cell);
}
