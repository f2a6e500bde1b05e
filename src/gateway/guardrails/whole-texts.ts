import { duplicateMember } from '../../common/json/duplicate-members.js';
import type { Json } from '../../providers/endpoint.js';
import { repeatedInWords } from '../types/repeated-member.js';
import { NO_TEXTS, type ReadTexts } from './texts/body-texts.js';
import { utf8ReaderOf } from './texts/charset.js';
import { unread } from './texts/unread.js';

/** No text contains it, but the bytes of UTF-16 do, which are valid UTF-8 all the same. */
const NUL = '\0';

interface WholeBody {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Null if it is not an object. */
  readonly json: Json | null;
  /** Null if the bytes are not text. */
  readonly text: string | null;
}

/**
 * The texts of a whole response that is not JSON, or why its bytes cannot be read; null if its texts are those of its JSON. `isPlain`: it may
 * be one text.
 */
export function textsOfWholeBody(
  { json, text, bytes, contentType }: WholeBody,
  isPlain = false,
): ReadTexts | null {
  if (!utf8ReaderOf(contentType)(bytes)) return unread('charset');
  if (text === null) return unread('format');
  if (json) {
    const name = duplicateMember(text);
    return name === null ? null : unread('duplicate', '', repeatedInWords(name));
  }
  if (text.trim() === '') return NO_TEXTS;
  if (!isPlain || text.includes(NUL)) return unread('format');
  const all = [text];
  return { ownTexts: all, every: all };
}
