import { findTexts, type FoundText, rewriteTexts } from './body-walk.js';
import { NO_RUN } from './message-runs.js';
import { reescaped, unescaped } from './escaped-text.js';
import type { TextTree } from './text-tree.js';
import type { UnreadContent } from './unread.js';

/** The texts of a request or a response, in order. */
export interface BodyTexts {
  /** Prompts, messages, arguments, as written: the subject of checks that count or require something. */
  readonly ownTexts: readonly string[];
  /** Every text, also outside of messages; JSON inside it is unescaped. Checks for forbidden content search these. */
  readonly every: readonly string[];
  /** Texts that a model reads as one, as positions in `every`. Absent: each text stands alone. */
  readonly runs?: readonly TextRun[];
  readonly unread?: undefined;
}

/** Text parts that a model reads as one text. */
export interface TextRun {
  /** Positions in `every`, in the order of the text: two or more. */
  readonly positions: readonly number[];
  /** The same text as templates may join it: directly, by a space, unescaped as a whole, or without blank parts. */
  readonly joined: readonly string[];
}

/** The texts of a subject, or why they cannot be read. Nothing reads texts without handling both. */
export type ReadTexts = BodyTexts | UnreadContent;

export const NO_TEXTS: BodyTexts = { ownTexts: [], every: [] };

/** The texts of a body. */
export function bodyTexts(body: unknown, tree: TextTree): ReadTexts {
  const read = findTexts(body, tree);
  if (read.unread) return read;
  const ownTexts: string[] = [];
  const every: string[] = [];
  for (const { text, kind } of read.found) {
    if (kind !== 'beside') ownTexts.push(text);
    every.push(unescaped(text));
  }
  const runs = runsOf(read.found, every);
  return runs.length === 0 ? { ownTexts, every } : { ownTexts, every, runs };
}

function runsOf(found: readonly FoundText[], every: readonly string[]): TextRun[] {
  const byRun = new Map<number, number[]>();
  for (const leads of [true, false])
    for (const [position, one] of found.entries())
      if (one.run !== NO_RUN && one.leads === leads) listed(byRun, one.run).push(position);
  const written = found.map(({ text }) => text);
  return [...byRun.values()]
    .filter(({ length }) => length > 1)
    .map((positions) => textRun(positions, written, every));
}

/** The list with this key, new if there is none. */
export function listed<Key>(lists: Map<Key, number[]>, key: Key): number[] {
  const known = lists.get(key);
  if (known) return known;
  const list: number[] = [];
  lists.set(key, list);
  return list;
}

/** The run of the texts at these positions, by the texts as written and as checks read them. */
export function textRun(
  positions: readonly number[],
  written: readonly string[],
  every: readonly string[],
): TextRun {
  const at = (texts: readonly string[]): string[] => positions.map((position) => texts[position] ?? '');
  const texts = at(every);
  const whole = unescaped(at(written).join(''));
  // Translations leave blank parts out.
  const filled = texts.filter((text) => text.trim() !== '').join('');
  return { positions, joined: [...new Set([texts.join(''), texts.join(' '), whole, filled])] };
}

/** The same body with the texts of `every` in their places; the same object if none differs. */
export function withTexts<Body>(body: Body, tree: TextTree, every: readonly string[]): Body {
  let index = 0;
  return rewriteTexts(body, tree, ({ text }) => {
    const changed = every[index++];
    return changed === undefined || changed === unescaped(text) ? text : reescaped(text, changed);
  });
}
