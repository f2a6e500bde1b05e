import { findTexts, type FoundText, rewriteTexts } from './body-walk.js';
import { reescaped, unescaped } from './escaped-text.js';
import type { TextTree } from './text-tree.js';
import type { UnreadContent } from './unread.js';

/** The texts of a request or a response, in order. */
export interface BodyTexts {
  /** Prompts, messages, arguments, as written: the subject of checks that count or require something. */
  readonly said: readonly string[];
  /** Every text, also outside of messages; JSON inside it is unescaped. Checks for forbidden content search these. */
  readonly every: readonly string[];
  /** The neighbouring text parts of a message, as positions in `every`. Absent: each text stands alone. */
  readonly runs?: readonly TextRun[];
  readonly unread?: undefined;
}

/** Text parts that a model reads as one text. */
export interface TextRun {
  /** Positions in `every`, in order: two or more. */
  readonly positions: readonly number[];
  /** The same text as templates may join it: directly, by a space, or unescaped as a whole. */
  readonly joined: readonly string[];
}

/** The texts of a subject, or why they cannot be read. Nothing reads texts without handling both. */
export type ReadTexts = BodyTexts | UnreadContent;

export const NO_TEXTS: BodyTexts = { said: [], every: [] };

/** The texts of a body. */
export function bodyTexts(body: unknown, tree: TextTree): ReadTexts {
  const read = findTexts(body, tree);
  if (read.unread) return read;
  const said: string[] = [];
  const every: string[] = [];
  for (const { text, kind } of read.found) {
    if (kind !== 'beside') said.push(text);
    every.push(unescaped(text));
  }
  const runs = runsOf(read.found, every);
  return runs.length === 0 ? { said, every } : { said, every, runs };
}

function runsOf(found: readonly FoundText[], every: readonly string[]): TextRun[] {
  const first = new Map<number, number>();
  const byRun = new Map<number, number[]>();
  for (const [position, { run }] of found.entries()) {
    if (run === 0) continue;
    const known = byRun.get(run);
    const begun = first.get(run);
    if (known) known.push(position);
    else if (begun === undefined) first.set(run, position);
    else byRun.set(run, [begun, position]);
  }
  return [...byRun.values()].map((positions) => ({
    positions,
    joined: joinedTexts(positions, found, every),
  }));
}

function joinedTexts(
  positions: readonly number[],
  found: readonly FoundText[],
  every: readonly string[],
): string[] {
  const texts = positions.map((position) => every[position] ?? '');
  const whole = unescaped(positions.map((position) => found[position]?.text ?? '').join(''));
  return [...new Set([texts.join(''), texts.join(' '), whole])];
}

/** The same body with the texts of `every` in their places; the same object if none differs. */
export function withTexts<Body>(body: Body, tree: TextTree, every: readonly string[]): Body {
  let index = 0;
  return rewriteTexts(body, tree, ({ text }) => {
    const changed = every[index++];
    return changed === undefined || changed === unescaped(text) ? text : reescaped(text, changed);
  });
}
