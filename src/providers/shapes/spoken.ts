import { isObject, textOf } from '../endpoints/reading.js';

/** A piece of what was said. */
export interface SpokenPiece {
  readonly text: string;
  /** It was thought, and is no part of the answer. */
  readonly isThought: boolean;
}

/**
 * The hub's content in pieces, none of them empty: one of a string, and of a list of parts those of Mistral's reasoning apart from its
 * answer. https://docs.mistral.ai/capabilities/reasoning
 */
export function spokenIn(content: unknown): readonly SpokenPiece[] {
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  return parts
    .map((part) => ({ text: textOf([part]), isThought: isObject(part) && part.type === 'thinking' }))
    .filter(({ text }) => text !== '');
}

/** All that was thought, or all that was said. */
export const spokenText = (content: unknown, isThought: boolean): string =>
  spokenIn(content)
    .filter((piece) => piece.isThought === isThought)
    .map(({ text }) => text)
    .join('');
