import type { Json } from '../../../endpoint.js';
import { isObject } from '../../../endpoints/reading.js';
import { anthropicFileBlock, anthropicImageBlock } from './files.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

/** A content part of the hub as a block; null for an empty one. */
type AnthropicBlockWriter = (part: Json) => Json | null;

const BLOCKS: ReadonlyMap<string, AnthropicBlockWriter> = new Map<string, AnthropicBlockWriter>([
  ['text', textBlock],
  ['refusal', ({ refusal }) => anthropicTextBlock(refusal)],
  ['image_url', anthropicImageBlock],
  ['file', anthropicFileBlock],
  ['thinking', thinkingBlock],
  ['redacted_thinking', redactedBlock],
  [
    'input_audio',
    () => {
      throw unsupportedParameter('messages[].content[].input_audio', 'Anthropic accepts no audio');
    },
  ],
]);

/**
 * The hub's content as Anthropic blocks. Texts of only whitespace, which some models write before a call, are left out, because Anthropic
 * refuses them (https://github.com/anthropics/claude-code/issues/23440). Anthropic's own parts, such as `search_result`, are passed on
 * unchanged.
 */
export function anthropicBlocks(content: unknown): Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === 'string') return presentAnthropicBlocks([anthropicTextBlock(content)]);
  if (!Array.isArray(content))
    throw invalidRequest('The content of a message must be a string or a list of parts.');
  return presentAnthropicBlocks((content as readonly unknown[]).map(blockOf));
}

/** A text block; null without text. */
export function anthropicTextBlock(text: unknown): Json | null {
  return typeof text === 'string' && text.trim() !== '' ? { type: 'text', text } : null;
}

/** Adds the `cache_control` of the hub's part, message or tool to a block. */
export function withBlockCacheControl(block: Json, { cache_control: mark }: Json): Json {
  return isObject(mark) ? { ...block, cache_control: mark } : block;
}

/** Adds the `cache_control` of a message to the last of its blocks. */
export function withAnthropicCachePoint(blocks: Json[], message: Json): Json[] {
  const last = isObject(message.cache_control) ? blocks.at(-1) : undefined;
  return last ? [...blocks.slice(0, -1), withBlockCacheControl(last, message)] : blocks;
}

/** Leaves out nulls. */
export function presentAnthropicBlocks(blocks: readonly (Json | null)[]): Json[] {
  return blocks.filter((block) => block !== null);
}

/** Anthropic's fields of a document besides the hub's: whether to cite it, and its context. */
const DOCUMENT_EXTRAS = ['citations', 'context'] as const;

function blockOf(part: unknown): Json | null {
  if (typeof part === 'string') return anthropicTextBlock(part);
  if (!isObject(part) || typeof part.type !== 'string')
    throw invalidRequest('Each part of a content must be an object with a "type".');
  const toBlock = BLOCKS.get(part.type);
  if (!toBlock) return part;
  const block = toBlock(part);
  return block && withBlockCacheControl(block.type === 'document' ? withExtras(block, part) : block, part);
}

function withExtras(block: Json, part: Json): Json {
  const extras = DOCUMENT_EXTRAS.filter((name) => (part[name] ?? null) !== null);
  return { ...block, ...Object.fromEntries(extras.map((name) => [name, part[name]])) };
}

function textBlock({ text, citations }: Json): Json | null {
  if (typeof text !== 'string') throw invalidRequest('A text part needs a "text".');
  const block = anthropicTextBlock(text);
  return block && Array.isArray(citations) ? { ...block, citations } : block;
}

/**
 * Thinking is sent back only with its signature (https://platform.claude.com/docs/en/build-with-claude/thinking): Anthropic refuses a
 * request with unsigned thinking, such as another provider's reasoning text, so it is left out.
 */
function thinkingBlock({ thinking, signature }: Json): Json | null {
  const isProven = typeof signature === 'string' && signature !== '';
  return isProven && typeof thinking === 'string' ? { type: 'thinking', thinking, signature } : null;
}

function redactedBlock({ data }: Json): Json | null {
  return typeof data === 'string' && data !== '' ? { type: 'redacted_thinking', data } : null;
}
