import { type Difference, differences } from '../../common/json/differences.js';
import type { JsonRecord } from './administration-client.js';

/** Returns the id of a workspace that was created just before. */
export type WorkspaceIds = (workspace: string) => string;

/** One request that brings the organization closer to the file. */
export interface DeclaredChange {
  /** For the operator: `virtual key "openai-prod"`. */
  readonly what: string;
  readonly isNew: boolean;
  /** Without secrets. */
  readonly differences: readonly Difference[];
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string | ((idOf: WorkspaceIds) => string);
  readonly body: (idOf: WorkspaceIds) => JsonRecord;
  /** Entity tag of the compared state. */
  readonly ifMatch?: string;
  /** Name of the workspace that the request creates. */
  readonly makesWorkspace?: string;
}

/** Differences in the wanted fields; other fields are ignored. */
function differing(current: JsonRecord, declared: JsonRecord): Difference[] {
  return Object.entries(declared).flatMap(([name, value]) => differences(current[name], value, `/${name}`));
}

/** A resource in the file that does not exist yet. Hidden fields are sent but not shown. */
export function created(
  what: string,
  path: string,
  shown: JsonRecord,
  hidden: JsonRecord = {},
): DeclaredChange {
  const body = { ...shown, ...specified(hidden) };
  return { what, isNew: true, differences: differing({}, shown), method: 'POST', path, body: () => body };
}

/** Sends only the fields that differ, and the hidden ones. */
export function updated(
  { what, path }: { readonly what: string; readonly path: string },
  current: JsonRecord,
  declared: JsonRecord,
  hidden: JsonRecord = {},
): DeclaredChange[] {
  const changes = differing(current, declared);
  if (changes.length === 0) return [];
  const names = new Set(changes.map((difference) => difference.path.split('/')[1]));
  const body = Object.fromEntries(Object.entries(declared).filter(([name]) => names.has(name)));
  return [
    {
      what,
      isNew: false,
      differences: changes,
      method: 'PUT',
      path,
      body: () => ({ ...body, ...specified(hidden) }),
    },
  ];
}

/** Without omitted fields. */
export function specified(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Without empty values. */
export const completed = (fields: JsonRecord): JsonRecord =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** The changes as shown to the operator before they are made. */
export function changesInWords(changes: readonly DeclaredChange[]): string {
  return changes
    .map(({ what, isNew, differences: changes }) =>
      [`${isNew ? '+' : '~'} ${what}`, ...changes.map((difference) => `    ${line(difference)}`)].join('\n'),
    )
    .join('\n');
}

const LONGEST_VALUE = 200;

function line({ op, path, value, old_value }: Difference): string {
  if (op === 'remove') return `- ${path}: ${shown(old_value)}`;
  return op === 'add' || old_value === undefined
    ? `+ ${path}: ${shown(value)}`
    : `~ ${path}: ${shown(old_value)} -> ${shown(value)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
