import type { Json } from '../../endpoint.js';
import { textOf } from '../../endpoints/reading.js';
import { responsesContent } from './content.js';
import { type ReadItem, readItem } from './items.js';
import { invalidResponsesRequest } from './refusing.js';
import { isCallBlock } from './sealing.js';
import type { ToolNames } from './tool-names.js';

type MessagePiece = Exclude<ReadItem, { kind: 'message' | 'nothing' }>;

/**
 * `input` as the hub's messages. Reasoning, text and calls of the assistant are separate items; the hub has one message for them. Throws
 * `invalid_request` or `parameter_unsupported`.
 */
export function messagesOfInput(input: unknown, names: ToolNames): readonly Json[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) throw invalidResponsesRequest('"input" must be a string or a list of items');
  const messages: Json[] = [];
  let turn: MessagePiece[] = [];
  for (const [index, item] of input.entries()) {
    const read = readItem(item, `input[${index}]`, names);
    if (read.kind === 'nothing') continue;
    if (read.kind !== 'message') turn.push(read);
    else {
      messages.push(...assistantMessages(turn), read.message);
      turn = [];
    }
  }
  return [...messages, ...assistantMessages(turn)];
}

/** A turn with calls is one message, because their outputs must follow the message that has them. */
function assistantMessages(turn: readonly MessagePiece[]): readonly Json[] {
  const groups = turn.some(({ kind }) => kind === 'call') ? [turn] : answers(turn);
  // Reasoning without its response is dropped: providers refuse a message without content.
  return groups.filter((group) => group.some(({ kind }) => kind !== 'reasoning')).map(assistantMessage);
}

/** Each text with the reasoning before it. */
function answers(turn: readonly MessagePiece[]): readonly (readonly MessagePiece[])[] {
  const groups: MessagePiece[][] = [];
  let hasContent = true;
  for (const piece of turn) {
    if (hasContent) groups.push([]);
    groups.at(-1)?.push(piece);
    hasContent = piece.kind === 'said';
  }
  return groups;
}

function assistantMessage(pieces: readonly MessagePiece[]): Json {
  const parts = pieces.flatMap((piece) => (piece.kind === 'said' ? piece.parts : []));
  const blocks = pieces.flatMap((piece) => (piece.kind === 'reasoning' ? piece.blocks : []));
  const ofCalls = new Map(blocks.filter(isCallBlock).map(({ id, extra_content }) => [id, extra_content]));
  const calls = pieces.flatMap((piece) => (piece.kind === 'call' ? [withData(piece.call, ofCalls)] : []));
  const thoughts = pieces.flatMap((piece) => (piece.kind === 'reasoning' && piece.text ? [piece.text] : []));
  const isSigned = blocks.some((block) => !isCallBlock(block));
  return {
    role: 'assistant',
    content: parts.length > 0 ? responsesContent(parts) : null,
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n\n') }),
    ...(isSigned && { content_blocks: pieces.flatMap(blocksOf) }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** A call with its provider's own data, which the reasoning before it carried. */
function withData(call: Json, data: ReadonlyMap<unknown, unknown>): Json {
  const extra_content = call.extra_content ?? data.get(call.id);
  return extra_content === undefined ? call : { ...call, extra_content };
}

/** Reasoning and text, in order, for providers that check the signatures of their own reasoning. */
function blocksOf(piece: MessagePiece): readonly Json[] {
  if (piece.kind === 'reasoning') return piece.blocks.filter((block) => !isCallBlock(block));
  if (piece.kind === 'call') return [];
  return piece.parts.map((part) => ({ type: 'text', text: textOf([part]) }));
}
