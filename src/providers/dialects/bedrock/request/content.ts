import type { Json } from '../../../endpoint.js';
import { isObject } from '../../../endpoints/reading.js';
import { audioBlock, type DocumentNames, bedrockFileBlock, bedrockImageBlock } from './media.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

/** A content part of the hub as a block; null for an empty one. */
type BedrockBlockWriter = (part: Json, names: DocumentNames) => Json | null;

const BLOCKS: ReadonlyMap<string, BedrockBlockWriter> = new Map<string, BedrockBlockWriter>([
  ['text', ({ text }) => textPart(text)],
  ['refusal', ({ refusal }) => bedrockTextBlock(refusal)],
  ['image_url', bedrockImageBlock],
  ['file', bedrockFileBlock],
  ['input_audio', audioBlock],
  ['thinking', thinkingBlock],
  ['redacted_thinking', redactedBlock],
]);

/**
 * The hub's content as Converse blocks, with a `cachePoint` after each part that has a `cache_control`. Texts of only whitespace are left
 * out, because Bedrock refuses them. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */
export function bedrockBlocks(content: unknown, names: DocumentNames): Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === 'string') return presentBedrockBlocks([bedrockTextBlock(content)]);
  if (!Array.isArray(content))
    throw invalidRequest('The content of a message must be a string or a list of parts.');
  return (content as readonly unknown[]).flatMap((part) => partBlocks(part, names));
}

/** A text block; null without text. */
export function bedrockTextBlock(text: unknown): Json | null {
  return typeof text === 'string' && text.trim() !== '' ? { text } : null;
}

/** Leaves out nulls. */
export function presentBedrockBlocks(blocks: readonly (Json | null)[]): Json[] {
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
export function withBedrockCachePoint(blocks: Json[], message: Json): Json[] {
  const last = blocks.at(-1);
  return last && !('cachePoint' in last) ? [...blocks, ...cachePoint(message)] : blocks;
}

function partBlocks(part: unknown, names: DocumentNames): Json[] {
  if (typeof part === 'string') return presentBedrockBlocks([bedrockTextBlock(part)]);
  if (!isObject(part) || typeof part.type !== 'string')
    throw invalidRequest('Each part of a content must be an object with a "type".');
  const toBlock = BLOCKS.get(part.type);
  if (!toBlock)
    throw unsupportedParameter('messages[].content[].type', 'Bedrock supports no parts of this type');
  const block = toBlock(part, names);
  return block ? [block, ...cachePoint(part)] : [];
}

function textPart(text: unknown): Json | null {
  if (typeof text !== 'string') throw invalidRequest('A text part needs a "text".');
  return bedrockTextBlock(text);
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
