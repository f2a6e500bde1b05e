import { isObject, textOf } from '../endpoints/reading.js';

/** A piece of a message's content. */
export interface SpokenPiece {
  readonly text: string;
  /** It is reasoning, and not part of the response's text. */
  readonly isThought: boolean;
}

/**
 * The hub's content in non-empty pieces: a string is one piece; in a list of parts, Mistral's reasoning is separated from its text.
 * https://docs.mistral.ai/capabilities/reasoning
 */
export function spokenIn(content: unknown): readonly SpokenPiece[] {
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [content];
  return parts
    .map((part) => ({ text: textOf([part]), isThought: isObject(part) && part.type === 'thinking' }))
    .filter(({ text }) => text !== '');
}

/** All of the reasoning, or all of the text. */
export const spokenText = (content: unknown, isThought: boolean): string =>
  spokenIn(content)
    .filter((piece) => piece.isThought === isThought)
    .map(({ text }) => text)
    .join('');
