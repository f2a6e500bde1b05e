import { jsonText } from '../../../common/json/deep-json.js';
import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';

/**
 * A provider's reasoning blocks, with their signatures, as the `encrypted_content` of a reasoning item: clients send that field back
 * unread, so the provider receives its own blocks again. Nothing in it is secret; the name is OpenAI's.
 * https://platform.openai.com/docs/guides/reasoning
 */
const MARK = 'gatehouse.1.';

/** The blocks as one string; null when there are none. */
export function sealReasoning(blocks: readonly Json[]): string | null {
  return blocks.length === 0 ? null : MARK + Buffer.from(jsonText(blocks)).toString('base64url');
}

/**
 * The blocks of a string that `seal` made. Empty for everything else: only OpenAI can read content that it encrypted itself, and a
 * conversation that moves to another provider continues without it.
 */
export function unseal(sealed: unknown): readonly Json[] {
  if (typeof sealed !== 'string' || !sealed.startsWith(MARK)) return [];
  try {
    const blocks: unknown = JSON.parse(Buffer.from(sealed.slice(MARK.length), 'base64url').toString());
    return list(blocks).flatMap(knownBlock);
  } catch {
    return [];
  }
}

/** Ids of reasoning items that the gateway made: those of OpenAI are longer. See `idSuffix`. */
const MADE_HERE = /^rs_[0-9a-f]{12}7[0-9a-f]{19}\d{1,3}$/;

/**
 * A request without the reasoning of other providers, for a provider that has responses itself: it refuses `encrypted_content` that it did
 * not make, and reasoning items by ids that it does not know. The same object if there is none, as nearly always.
 */
export function withoutForeignReasoning(request: Json): Json {
  const { input } = request;
  if (!Array.isArray(input) || !input.some(isMadeHere)) return request;
  return { ...request, input: input.filter((item) => !isMadeHere(item)) };
}

function isMadeHere(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'reasoning') return false;
  const { encrypted_content: sealed, id } = item;
  if (typeof sealed === 'string') return sealed.startsWith(MARK);
  return typeof id === 'string' && MADE_HERE.test(id);
}

/**
 * A provider's own data of a tool call, such as Gemini's thought signature. It is in the reasoning item before the call, because clients
 * drop fields of a `function_call` that OpenAI does not have. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const callBlock = (id: string, extra_content: Json): Json => ({
  type: 'tool_call',
  id,
  extra_content,
});

/** Whether a block belongs to a tool call, and is therefore not reasoning. */
export const isCallBlock = ({ type }: Json): boolean => type === 'tool_call';

/** The block with the fields that the hub has for it; empty if it is invalid. */
export function knownBlock(block: unknown): readonly Json[] {
  if (!isObject(block)) return [];
  const { type, thinking, signature, data, id, extra_content } = block;
  if (type === 'tool_call' && typeof id === 'string' && isObject(extra_content))
    return [callBlock(id, extra_content)];
  if (type === 'redacted_thinking' && typeof data === 'string') return [{ type, data }];
  if (type !== 'thinking' || typeof thinking !== 'string') return [];
  return [typeof signature === 'string' ? { type, thinking, signature } : { type, thinking }];
}
