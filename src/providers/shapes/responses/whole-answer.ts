import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';

/**
 * A whole message as the pieces that a stream would have brought: where the provider's blocks are there, what was
 * thought and said keeps their order.
 */
export function piecesOf(message: Json): readonly Json[] {
  const { content_blocks, reasoning_content, reasoning, content, ...rest } = message;
  const blocks = list(content_blocks).filter(isObject);
  if (blocks.length === 0) return [message];
  const pieces = blocks.map(pieceOf);
  const isSaid = blocks.some(({ type }) => type === 'text');
  const isThought = blocks.some(({ type }) => type === 'thinking');
  return [
    ...(isThought ? [] : [{ reasoning_content: reasoning_content ?? reasoning }]),
    ...pieces,
    isSaid ? rest : { ...rest, content },
  ];
}

function pieceOf(block: Json, index: number): Json {
  const { type, text, thinking, signature, data } = block;
  if (type === 'text') return { content: textOf(text) };
  const delta = type === 'redacted_thinking' ? { data } : { thinking, signature };
  return { reasoning_content: textOf(thinking), content_blocks: [{ index, delta }] };
}
