import { type Difference, differences } from '../../common/json/differences.js';
import type { Json } from './administration-client.js';

/** One request that brings the organization nearer to what the file says. */
export interface Change {
  /** For the operator: `virtual key "openai-prod"`. */
  readonly what: string;
  readonly isNew: boolean;
  /** Without secrets. */
  readonly differences: readonly Difference[];
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  /** `idOf` gives the id of a workspace that was made just before. */
  readonly body: (idOf: (workspace: string) => string) => Json;
  /** Name of the workspace that the request makes. */
  readonly makesWorkspace?: string;
}

/** What differs in the fields that are wanted; the others are not looked at. */
export function differing(current: Json, wanted: Json): Difference[] {
  return Object.entries(wanted).flatMap(([name, value]) => differences(current[name], value, `/${name}`));
}

/** Without the fields that were left out. */
export function given(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The changes as an operator reads them before they are made. */
export function inWords(changes: readonly Change[]): string {
  return changes
    .map(({ what, isNew, differences: found }) =>
      [`${isNew ? '+' : '~'} ${what}`, ...found.map((difference) => `    ${line(difference)}`)].join('\n'),
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
