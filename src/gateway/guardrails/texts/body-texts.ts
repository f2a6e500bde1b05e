import { rewriteTexts, textsIn } from './body-walk.js';
import { reescaped, unescaped } from './escaped-text.js';
import type { TextTree } from './text-tree.js';

/** The texts of a request or a response, in order. */
export interface BodyTexts {
  /** Prompts, messages, arguments, as written: the subject of checks that count or require something. */
  readonly said: readonly string[];
  /** Every text, also outside of messages; JSON inside it is unescaped. Checks for forbidden content search these. */
  readonly every: readonly string[];
}

export const NO_TEXTS: BodyTexts = { said: [], every: [] };

/** The texts of a body. Throws `TooDeep`. */
export function bodyTexts(body: unknown, tree: TextTree): BodyTexts {
  const said: string[] = [];
  const every: string[] = [];
  for (const { text, kind } of textsIn(body, tree)) {
    if (kind !== 'beside') said.push(text);
    every.push(unescaped(text));
  }
  return { said, every };
}

/** The same body with the texts of `every` in their places; the same object if none differs. */
export function withTexts<Body>(body: Body, tree: TextTree, every: readonly string[]): Body {
  let index = 0;
  return rewriteTexts(body, tree, ({ text }) => {
    const changed = every[index++];
    return changed === undefined || changed === unescaped(text) ? text : reescaped(text, changed);
  });
}
