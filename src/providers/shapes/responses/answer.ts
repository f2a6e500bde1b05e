import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { namespacedTools } from './namespaces.js';
import { Output } from './output.js';
import { isSummaryAsked } from './reasoning-item.js';
import { BEGINNING, idSuffix, isWhole, responseObject, usageIn } from './response.js';
import { piecesOf } from './whole-answer.js';

/**
 * The hub's answer as a response object: the output is made by what makes it from a stream. Never throws.
 * https://platform.openai.com/docs/api-reference/responses/object
 */
export function responseOf(hub: Json, asked: Json, context: Context): Json {
  const choice = list(hub.choices).find(isObject) ?? {};
  const output = new Output({
    emit: () => undefined,
    idSuffix: idSuffix(context),
    isSummary: isSummaryAsked(asked),
    namespaced: namespacedTools(asked.tools),
  });
  const pieces = isObject(choice.message) ? piecesOf(choice.message) : [];
  // Log probabilities are those of the whole text, so they fit only a message that is not in pieces.
  for (const piece of pieces) output.add(piece, pieces.length === 1 ? choice.logprobs : null);
  const finishReason = typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const isComplete = isWhole(finishReason);
  return responseObject(asked, context, {
    ...BEGINNING,
    status: isComplete ? 'completed' : 'incomplete',
    output: output.snapshot(isComplete),
    model: typeof hub.model === 'string' && hub.model !== '' ? hub.model : null,
    service_tier: typeof hub.service_tier === 'string' ? hub.service_tier : null,
    usage: usageIn(hub),
    finishReason,
  });
}
