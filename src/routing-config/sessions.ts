import { hash } from 'node:crypto';
import type { RoutedRequest } from './conditions.js';
import type { StickyRules } from './document.js';

/** A candidate of a load balance. */
export interface Share {
  /** Path of the target in the config. */
  readonly path: string;
  /** Above 0. */
  readonly weight: number;
}

export interface StickyField {
  readonly root: 'metadata' | 'params' | 'headers';
  readonly key: string;
}

/** The fields that define a session; null without sessions. */
export function stickyFields(rules: StickyRules | undefined): readonly StickyField[] | null {
  return rules?.enabled ? (rules.hash_fields ?? []).map(stickyField) : null;
}

function stickyField(field: string): StickyField {
  const dot = field.indexOf('.');
  const root = field.slice(0, dot) as StickyField['root'];
  const key = field.slice(dot + 1);
  return { root, key: root === 'headers' ? key.toLowerCase() : key };
}

/** The session of a request by the fields; null if it has none of them, and so belongs to no session. */
export function stickySession(fields: readonly StickyField[], request: RoutedRequest): string | null {
  const values = fields.map((field) => valueOf(field, request));
  return values.every((value) => value === undefined) ? null : JSON.stringify(values);
}

function valueOf({ root, key }: StickyField, { metadata, params, headers }: RoutedRequest): unknown {
  const values: object | null = { metadata, params, headers }[root];
  return values && Object.hasOwn(values, key) ? (values as Record<string, unknown>)[key] : undefined;
}

/**
 * Weighted rendezvous hashing: every process of every instance finds the same target for a session without communication, each target gets
 * its share of the sessions, and when one is added or removed only its own share moves.
 * https://www.snia.org/sites/default/files/SDC15_presentations/dist_sys/Jason_Resch_New_Consistent_Hashings_Rev.pdf
 */
export function shareOfSession<T extends Share>(targets: readonly T[], session: string): T {
  let best = targets[0] as T;
  let bestScore = -Infinity;
  for (const target of targets) {
    const score = -target.weight / Math.log(uniform(`${target.path}\n${session}`));
    if (score <= bestScore) continue;
    best = target;
    bestScore = score;
  }
  return best;
}

const BITS = 48;

/** A number in (0, 1) determined only by the text. */
function uniform(text: string): number {
  const bits = hash('sha1', text, 'buffer').readUIntBE(0, BITS / 8);
  return (bits + 0.5) / 2 ** BITS;
}
