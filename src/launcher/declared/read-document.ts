import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { readRoutingConfig } from '../../common/contracts/routing-config.js';
import { LauncherError } from '../launcher-error.js';
import { type Declared, documentSchema } from './document.js';

type Path = readonly (string | number)[];

export interface FileMistake {
  readonly path: Path;
  readonly message: string;
}

/** A file that was read, and where its parts stand in it. */
export interface ReadDocument {
  readonly declared: Declared;
  /** Fails with all mistakes of the file at once, each with its line; does nothing where there are none. */
  refuse(mistakes: readonly FileMistake[]): void;
}

/** Reads a file that declares an organization. Fails with all its mistakes at once, each with its line. */
export function readDocument(text: string, file: string): ReadDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0)
    throw new LauncherError(
      worded(
        file,
        document.errors.map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })),
      ),
    );
  const refuse = (mistakes: readonly FileMistake[]): void => {
    if (mistakes.length === 0) return;
    const placed = mistakes.map(({ path, message }) => ({
      line: lineOf(document, lines, path),
      message: `${dotted(path)} ${message}`,
    }));
    throw new LauncherError(worded(file, placed));
  };
  // Aliases are resolved, but not without bound: https://eemeli.org/yaml/#tojs-options
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const read = documentSchema.safeParse(value ?? {});
  refuse([
    ...(read.success ? [] : read.error.issues.map(mistakeOf)),
    ...configMistakes(value),
    ...twins(value),
  ]);
  return { declared: read.data as Declared, refuse };
}

function mistakeOf({
  path,
  message,
  code,
  ...rest
}: {
  path: PropertyKey[];
  message: string;
  code: string;
}): FileMistake {
  const place = path.map((step) => (typeof step === 'number' ? step : String(step)));
  const { keys } = rest as { keys?: readonly string[] };
  return code === 'unrecognized_keys' && keys
    ? { path: [...place, keys[0] ?? ''], message: `is not known here (${keys.join(', ')})` }
    : { path: place, message: `is not acceptable: ${message}` };
}

/** A config that would not run is a mistake of the file, and is found before anything is changed. */
function configMistakes(value: unknown): FileMistake[] {
  return listIn(value, 'configs').flatMap((config, index) => {
    if (config?.config === undefined) return [];
    const { mistakes = [] } = readRoutingConfig(config.config);
    return mistakes.map(({ path, message }) => ({ path: ['configs', index, ...stepsOf(path)], message }));
  });
}

/** Two entries for one thing would undo each other each time. */
function twins(value: unknown): FileMistake[] {
  return (['virtual_keys', 'configs'] as const).flatMap((section) => {
    const slugs = listIn(value, section).map((entry) => entry?.slug);
    return slugs.flatMap((slug, index) =>
      typeof slug === 'string' && slugs.indexOf(slug) < index
        ? [{ path: [section, index, 'slug'], message: `stands in the file twice: "${slug}"` }]
        : [],
    );
  });
}

type Entry = Readonly<Record<string, unknown>> | null | undefined;

function listIn(value: unknown, section: string): readonly Entry[] {
  const list: unknown = (value as Entry)?.[section];
  return Array.isArray(list) ? (list as Entry[]) : [];
}

/** `config.targets[1].weight` */
export function stepsOf(path: string): Path {
  return path.split(/\.|(?=\[)/).map((step) => (/^\[\d+\]$/.test(step) ? Number(step.slice(1, -1)) : step));
}

function dotted(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

/** Of the innermost part of the path that is there. */
function lineOf(document: Document, lines: LineCounter, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function worded(
  file: string,
  mistakes: readonly { readonly line: number; readonly message: string }[],
): string {
  const sorted = [...mistakes].sort((a, b) => a.line - b.line);
  return [
    `The file has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}; nothing was changed.`,
    ...sorted.map(({ line, message }) => `  ${file}:${line}: ${message}`),
  ].join('\n');
}
