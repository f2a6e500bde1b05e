import { rewriteTexts, textsIn } from './body-walk.js';
import { reescaped, unescaped } from './escaped-text.js';
import type { TextTree } from './text-tree.js';

/** The texts of a request or an answer, in order. */
export interface BodyTexts {
  /** Prompts, messages, arguments: what checks count and what they require. As it was written. */
  readonly said: readonly string[];
  /** Every text, also beside what is said; JSON in it is unescaped. What must not occur is looked for here. */
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

/** The same body with other texts in the places of `every`; the very same object where none differs. */
export function withTexts<Body>(body: Body, tree: TextTree, every: readonly string[]): Body {
  let index = 0;
  return rewriteTexts(body, tree, ({ text }) => {
    const changed = every[index++];
    return changed === undefined || changed === unescaped(text) ? text : reescaped(text, changed);
  });
}
