import type { EndpointId, Json } from '../../../providers/endpoint.js';
import { canonicalText } from '../canonical-json.js';

/** The text of a request that is compared semantically, and all that must be equal for it. */
interface ComparedText {
  readonly text: string;
  /** The rest of the body and the literal parts of the text, as one text. */
  readonly rest: string;
}

/** Longer conversations hardly ever recur, and each of their turns would cost an embedding. */
const MESSAGES_MAX = 4;

/** Models accept about 8,000 tokens, and hardly any character is more than one token. https://platform.openai.com/docs/guides/embeddings */
const TEXT_CHARS_MAX = 8_000;

/** A body without the compared text, and that text. */
type Split = readonly [rest: Json, text: string];

/** Extracts the text per endpoint. Endpoints that are not listed are not compared semantically. */
const SPLITTERS: Partial<Record<EndpointId, (body: Json) => Split | null>> = {
  'chat-completions': (body) => withoutLast(body, 'messages'),
  completions: (body) => withoutText(body, 'prompt'),
  messages: (body) => withoutLast(body, 'messages'),
  responses: (body) => withoutText(body, 'input') ?? withoutLast(body, 'input'),
};

/**
 * Splits off the user's last text. Null for a request without one, for one that does not end with a user's text (a tool result, or the
 * beginning of the response), and for one that is too long.
 */
export function comparedIn(endpoint: EndpointId, body: Json): ComparedText | null {
  const split = SPLITTERS[endpoint]?.(body) ?? null;
  if (!split) return null;
  const [others, text] = split;
  if (text.trim() === '' || text.length > TEXT_CHARS_MAX) return null;
  const rest = canonicalText([others, literalsIn(text)]);
  return rest === null ? null : { text, rest };
}

/**
 * Words that two texts must share literally, because embeddings hardly distinguish them: words with a digit, mail addresses and URLs.
 * "Order 4711" and "order 4712" are as similar as texts can be.
 */
const LITERAL = /[\p{N}@]|:\/\//u;
const MARK = /[\p{P}\p{S}]/u;

function literalsIn(text: string): string[] {
  const words = text.split(/\s/).filter((word) => LITERAL.test(word));
  return words.map((word) => withoutMarks(word).toLowerCase());
}

/** Strips the punctuation around a word. Not with one pattern, whose time would grow with the square of a long run of punctuation. */
function withoutMarks(word: string): string {
  let [start, end] = [0, word.length];
  while (start < end && MARK.test(word[start] as string)) start++;
  while (start < end && MARK.test(word[end - 1] as string)) end--;
  return word.slice(start, end);
}

function withoutText(body: Json, field: string): Split | null {
  const text = body[field];
  return typeof text === 'string' ? [{ ...body, [field]: '' }, text] : null;
}

function withoutLast(body: Json, field: string): Split | null {
  const messages: unknown = body[field];
  if (!isList(messages) || messages.length > MESSAGES_MAX) return null;
  const last = messages.at(-1);
  if (!isObject(last) || last.role !== 'user') return null;
  const split = withoutTexts(last.content);
  if (!split) return null;
  const [content, text] = split;
  return [{ ...body, [field]: [...messages.slice(0, -1), { ...last, content }] }, text];
}

/** The text parts of a message. Images and other parts between them stay in the rest. */
const TEXT_PARTS: ReadonlySet<unknown> = new Set(['text', 'input_text']);

function withoutTexts(content: unknown): readonly [rest: unknown, text: string] | null {
  if (typeof content === 'string') return ['', content];
  if (!Array.isArray(content)) return null;
  const texts: string[] = [];
  const rest = content.map((part: unknown) => {
    if (!isObject(part) || !TEXT_PARTS.has(part.type) || typeof part.text !== 'string') return part;
    texts.push(part.text);
    return { ...part, text: '' };
  });
  return [rest, texts.join('\n')];
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
