import type { Json } from '../../../endpoint.js';
import { isObject } from '../../../endpoints/reading.js';
import { audioBlock, type DocumentNames, fileBlock, imageBlock } from './media.js';
import { invalid, unsupported } from '../../refusing.js';

/** A content part of the hub as a block; null for an empty one. */
type ToBlock = (part: Json, names: DocumentNames) => Json | null;

const BLOCKS: ReadonlyMap<string, ToBlock> = new Map<string, ToBlock>([
  ['text', ({ text }) => textPart(text)],
  ['refusal', ({ refusal }) => plainText(refusal)],
  ['image_url', imageBlock],
  ['file', fileBlock],
  ['input_audio', audioBlock],
  ['thinking', thinkingBlock],
  ['redacted_thinking', redactedBlock],
]);

/**
 * The hub's content as Converse blocks, with a `cachePoint` after each part that has a `cache_control`. Texts of only whitespace are left
 * out, because Bedrock refuses them. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */
export function blocksOf(content: unknown, names: DocumentNames): Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === 'string') return present([plainText(content)]);
  if (!Array.isArray(content)) throw invalid('The content of a message must be a string or a list of parts.');
  return (content as readonly unknown[]).flatMap((part) => partBlocks(part, names));
}

/** A text block; null without text. */
export function plainText(text: unknown): Json | null {
  return typeof text === 'string' && text.trim() !== '' ? { text } : null;
}

/** Leaves out nulls. */
export function present(blocks: readonly (Json | null)[]): Json[] {
  return blocks.filter((block) => block !== null);
}

/**
 * The mark of a part, a message or a tool as blocks to append; empty without a mark.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function cachePoint({ cache_control: mark }: Json): Json[] {
  if (!isObject(mark)) return [];
  const ttl = typeof mark.ttl === 'string' ? { ttl: mark.ttl } : {};
  return [{ cachePoint: { type: 'default', ...ttl } }];
}

/** Blocks with the mark of their message after the last one; unchanged if there are none. */
export function withMarkAtEnd(blocks: Json[], message: Json): Json[] {
  const last = blocks.at(-1);
  return last && !('cachePoint' in last) ? [...blocks, ...cachePoint(message)] : blocks;
}

function partBlocks(part: unknown, names: DocumentNames): Json[] {
  if (typeof part === 'string') return present([plainText(part)]);
  if (!isObject(part) || typeof part.type !== 'string')
    throw invalid('Each part of a content must be an object with a "type".');
  const toBlock = BLOCKS.get(part.type);
  if (!toBlock) throw unsupported('messages[].content[].type', 'Bedrock supports no parts of this type');
  const block = toBlock(part, names);
  return block ? [block, ...cachePoint(part)] : [];
}

function textPart(text: unknown): Json | null {
  if (typeof text !== 'string') throw invalid('A text part needs a "text".');
  return plainText(text);
}

/**
 * Thinking is sent back only with its signature: without one, the model refuses it.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ReasoningContentBlock.html
 */
function thinkingBlock({ thinking, signature }: Json): Json | null {
  const isProven = typeof signature === 'string' && signature !== '';
  if (!isProven || typeof thinking !== 'string') return null;
  return { reasoningContent: { reasoningText: { text: thinking, signature } } };
}

function redactedBlock({ data }: Json): Json | null {
  return typeof data === 'string' && data !== '' ? { reasoningContent: { redactedContent: data } } : null;
}
