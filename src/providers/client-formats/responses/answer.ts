import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { Output } from './output.js';
import { isSummaryRequested } from './reasoning-item.js';
import { BEGINNING, idSuffix, isWhole, responseObject, responsesUsageIn } from './response.js';
import { ToolNames } from './tool-names.js';

/**
 * The hub's response as a response object; the output is built by the same code as for a stream. Never throws.
 * https://platform.openai.com/docs/api-reference/responses/object
 */
export function responseOf(hub: Json, request: Json, context: Context): Json {
  const choice = list(hub.choices).find(isObject) ?? {};
  const output = new Output({
    emit: () => undefined,
    idSuffix: idSuffix(context),
    isSummary: isSummaryRequested(request),
    tools: ToolNames.of(request),
    isSingleCall: request.parallel_tool_calls === false,
  });
  const pieces = isObject(choice.message) ? piecesOf(choice.message) : [];
  // Log probabilities cover the whole text, so they fit only a message of one piece.
  for (const piece of pieces) output.add(piece, pieces.length === 1 ? choice.logprobs : null);
  const finishReason = typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const isComplete = isWhole(finishReason);
  return responseObject(request, context, {
    ...BEGINNING,
    status: isComplete ? 'completed' : 'incomplete',
    output: output.snapshot(isComplete),
    model: typeof hub.model === 'string' && hub.model !== '' ? hub.model : null,
    service_tier: typeof hub.service_tier === 'string' ? hub.service_tier : null,
    usage: responsesUsageIn(hub),
    finishReason,
  });
}

/** Splits a whole message into the pieces of a stream: with the provider's blocks, thinking and text keep their order. */
function piecesOf(message: Json): readonly Json[] {
  const { content_blocks, reasoning_content, reasoning, content, ...rest } = message;
  const blocks = list(content_blocks).filter(isObject);
  if (blocks.length === 0) return [message];
  const pieces = blocks.map(pieceOf);
  const hasText = blocks.some(({ type }) => type === 'text');
  const isThought = blocks.some(({ type }) => type === 'thinking');
  return [
    ...(isThought ? [] : [{ reasoning_content: reasoning_content ?? reasoning }]),
    ...pieces,
    hasText ? rest : { ...rest, content },
  ];
}

function pieceOf(block: Json, index: number): Json {
  const { type, text, thinking, signature, data } = block;
  if (type === 'text') return { content: textOf(text) };
  const delta = type === 'redacted_thinking' ? { data } : { thinking, signature };
  return { reasoning_content: textOf(thinking), content_blocks: [{ index, delta }] };
}
