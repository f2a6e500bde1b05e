import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import type { z } from 'zod';
import { readRoutingConfig } from '../../routing-config/routing-config.js';
import { readBySchema, type SchemaMistake } from '../../common/json/read-by-schema.js';
import { LauncherError } from '../launcher-error.js';
import {
  type DeclaredOrganization,
  type DeclaredSignedTokens,
  documentSchema,
  organizationSchema,
  signedTokensSchema,
  type SectionName,
  SECTIONS,
} from './document.js';

type SectionPath = readonly (string | number)[];

export interface FileMistake {
  readonly path: SectionPath;
  readonly message: string;
}

/** The valid parts of a file. Invalid entries leave a gap, so that the others keep their index. */
export type DeclaredDocument = {
  readonly [Name in SectionName]: readonly (z.infer<(typeof SECTIONS)[Name]> | undefined)[];
} & {
  readonly organization: DeclaredOrganization | undefined;
  readonly signed_tokens: DeclaredSignedTokens | undefined;
};

/** The file is invalid; the message lists its mistakes. */
export class WrongFile extends LauncherError {}

/** A parsed file, with the positions of its parts. */
export interface ReadDocument {
  readonly declared: DeclaredDocument;
  /** The mistakes that the file alone reveals. */
  readonly mistakes: readonly FileMistake[];
  /** The names in the file, even of otherwise invalid entries. */
  readonly names: {
    readonly workspaces: readonly string[];
    readonly slugs: ReadonlyMap<SectionName, ReadonlySet<string>>;
  };
  /** Throws `WrongFile` with all of these mistakes and their lines; does nothing without one. */
  refuse(mistakes: readonly FileMistake[]): void;
}

/** Reads a file that declares an organization. Throws `WrongFile` if it is not YAML. */
export function readDocument(text: string, file: string): ReadDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0)
    throw new WrongFile(
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
    throw new WrongFile(worded(file, placed));
  };
  // Aliases are resolved, up to a limit: https://eemeli.org/yaml/#tojs-options
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  const { mistakes: ofForm = [] } = readBySchema(documentSchema, value ?? {});
  const mistakes = [...ofForm.map(mistakeOf), ...configMistakes(value), ...duplicates(value)];
  const names = {
    workspaces: textsIn(value, 'workspaces', 'name'),
    slugs: new Map(SECTION_NAMES.map((section) => [section, new Set(textsIn(value, section, 'slug'))])),
  };
  return { declared: declaredIn(value, mistakes), mistakes, names, refuse };
}

function mistakeOf({ path, rule, isUnknown }: SchemaMistake): FileMistake {
  return { path, message: isUnknown ? 'is not a known field' : `is invalid: ${rule}` };
}

function declaredIn(value: unknown, mistakes: readonly FileMistake[]): DeclaredDocument {
  const isWrong = (section: SectionName, index: number): boolean =>
    mistakes.some(({ path }) => path[0] === section && path[1] === index);
  const entries = <Name extends SectionName>(section: Name): DeclaredDocument[Name] =>
    listIn(value, section).map((entry, index) =>
      isWrong(section, index) ? undefined : readBySchema<unknown>(SECTIONS[section], entry).data,
    ) as unknown as DeclaredDocument[Name];
  return {
    organization: readBySchema(organizationSchema, (value as SectionEntry)?.organization).data,
    signed_tokens: readBySchema(signedTokensSchema, (value as SectionEntry)?.signed_tokens).data,
    ...(Object.fromEntries(SECTION_NAMES.map((section) => [section, entries(section)])) as Pick<
      DeclaredDocument,
      SectionName
    >),
  };
}

const SECTION_NAMES = Object.keys(SECTIONS) as SectionName[];

/** Invalid configs are mistakes of the file, found before anything is changed. */
function configMistakes(value: unknown): FileMistake[] {
  return listIn(value, 'configs').flatMap((config, index) => {
    if (config?.config === undefined) return [];
    const { mistakes = [] } = readRoutingConfig(config.config);
    return mistakes.map(({ path, message }) => ({ path: ['configs', index, ...stepsOf(path)], message }));
  });
}

/** The fields that identify the resource of an entry. */
const IDENTITIES = [
  ['workspaces', ['name', 'id']],
  ['users', ['email']],
  ['guardrails', ['slug']],
  ['integrations', ['slug']],
  ['providers', ['slug']],
  ['model_prices', ['model', 'provider']],
  ['usage_policies', ['name', 'workspace']],
  ['rate_policies', ['name', 'workspace']],
  ['audit_destinations', ['name']],
  ['virtual_keys', ['slug']],
  ['configs', ['slug']],
  ['api_keys', ['name', 'type', 'workspace', 'id']],
] as const satisfies readonly (readonly [SectionName, readonly string[]])[];

/** Two entries for one resource would overwrite each other every time. */
function duplicates(value: unknown): FileMistake[] {
  return IDENTITIES.flatMap(([section, fields]) => {
    const [field] = fields;
    const identities = listIn(value, section).map((entry) =>
      JSON.stringify(fields.map((one) => entry?.[one])),
    );
    return listIn(value, section).flatMap((entry, index) =>
      typeof entry?.[field] === 'string' && identities.indexOf(identities[index] ?? '') < index
        ? [{ path: [section, index, field], message: `is in the file twice: "${entry[field]}"` }]
        : [],
    );
  });
}

type SectionEntry = Readonly<Record<string, unknown>> | null | undefined;

function listIn(value: unknown, section: string): readonly SectionEntry[] {
  const list: unknown = (value as SectionEntry)?.[section];
  return Array.isArray(list) ? (list as SectionEntry[]) : [];
}

const textsIn = (value: unknown, section: SectionName, field: string): string[] =>
  listIn(value, section)
    .map((entry) => entry?.[field])
    .filter((text) => typeof text === 'string');

/** `config.targets[1].weight` */
export function stepsOf(path: string): SectionPath {
  return path.split(/\.|(?=\[)/).map((step) => (/^\[\d+\]$/.test(step) ? Number(step.slice(1, -1)) : step));
}

function dotted(path: SectionPath): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

/** Line of the innermost existing part of the path. */
function lineOf(document: Document, lines: LineCounter, path: SectionPath): number {
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
