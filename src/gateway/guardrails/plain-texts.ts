import { type BodyTexts, NO_TEXTS } from './texts/body-texts.js';

/** No text contains it, but the bytes of UTF-16 do, which are valid UTF-8 all the same. */
const NUL = '\0';

/** The texts of a response that is not JSON; null if it cannot be read. `isPlain`: it may be one text. */
export function plainTexts(text: string | null, isPlain = false): BodyTexts | null {
  if (text?.trim() === '') return NO_TEXTS;
  if (text === null || !isPlain || text.includes(NUL)) return null;
  const all = [text];
  return { said: all, every: all };
}
