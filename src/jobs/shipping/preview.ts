import { codingsOf, decodedSync } from '../../common/http/content-coding.js';
import type { BodyFacts } from '../../request-log/spool/frame-values.js';

/** Characters of a body that a list shows. */
const PREVIEW_CHARS = 200;
/** An escape sequence is twelve characters for two at most. */
const LITERAL_CHARS = PREVIEW_CHARS * 6;
/** Mean in JSON what they are. */
const PLAIN_CHARS = /^[^"\\\u0000-\u001f]*/;
const LARGEST_PACKED = 64 * 1024;
const LARGEST_UNPACKED = 1024 * 1024;

/** Fields in which the shapes of the providers put what people say and read, where they are a text. */
const REQUEST_TEXT = /"(?:content|text|input|prompt|query)"\s*:\s*"/g;
const ANSWER_TEXT = /"(?:content|text|delta|partial_json|output_text|message)"\s*:\s*"/g;
const IS_TEXT = /json|^text\//i;

/**
 * The beginning of what a body says: of a request its last message, of an answer its first words, those of a stream
 * together. Null where it says nothing that is a text.
 */
export function previewOf(direction: 'request' | 'response', facts: BodyFacts, bytes: Buffer): string | null {
  const text = textOf(facts, bytes);
  if (text === null) return null;
  const words = direction === 'request' ? lastWords(text) : firstWords(text);
  return (words === '' ? text : words).slice(0, PREVIEW_CHARS);
}

function textOf({ content_type: type, content_encoding: coding }: BodyFacts, bytes: Buffer): string | null {
  if (bytes.length === 0 || (type !== null && !IS_TEXT.test(type))) return null;
  const codings = codingsOf(coding);
  if (codings.length > 0 && bytes.length > LARGEST_PACKED) return null;
  try {
    return decodedSync(bytes, codings, LARGEST_UNPACKED).toString();
  } catch {
    return null;
  }
}

function lastWords(text: string): string {
  let last = -1;
  for (const { index, 0: found } of text.matchAll(REQUEST_TEXT)) last = index + found.length;
  return last < 0 ? '' : literalAt(text, last);
}

function firstWords(text: string): string {
  let words = '';
  for (const { index, 0: found } of text.matchAll(ANSWER_TEXT)) {
    words += literalAt(text, index + found.length);
    if (words.length >= PREVIEW_CHARS || (!text.startsWith('data:') && words !== '')) break;
  }
  return words;
}

/** The string of JSON that begins here, or as much of it as a preview needs. */
function literalAt(text: string, from: number): string {
  const plain = PLAIN_CHARS.exec(text.slice(from, from + PREVIEW_CHARS + 1))?.[0] ?? '';
  if (plain.length >= PREVIEW_CHARS || text[from + plain.length] === '"') return plain;
  const part = text.slice(from, from + LITERAL_CHARS);
  const literal = /^(?:[^"\\]|\\(?:u[\da-fA-F]{4}|[^u]))*/.exec(part)?.[0] ?? '';
  try {
    return JSON.parse(`"${literal}"`) as string;
  } catch {
    return literal;
  }
}
