import { AppError } from '../common/errors/app-error.js';
import type { Json } from './endpoint.js';

/**
 * Parameters that may be dropped if a provider does not support them, with the reason why the response still fits the request. Names are
 * those of OpenAI's API: https://platform.openai.com/docs/api-reference/chat/create and
 * https://platform.openai.com/docs/api-reference/responses/create.
 *
 * A parameter is not listed if the client would misread the response without it: the number of choices (`n`), their format
 * (`response_format`, `stop`, `modalities`, `audio`), what the model may do (`tools`, `tool_choice`, `parallel_tool_calls`,
 * `web_search_options`), or the cost (`service_tier`).
 */
export const DROPPABLE_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['seed', 'OpenAI itself makes only a best effort to sample the same response again'],
  ['frequency_penalty', 'it changes the choice of words, not the form of the response'],
  ['presence_penalty', 'it changes the choice of words, not the form of the response'],
  ['logit_bias', "it shifts the choice of tokens, whose ids are those of OpenAI's models"],
  ['verbosity', 'it is a hint for a shorter or longer response'],
  ['logprobs', 'the text is the same, and `logprobs` of the response are null'],
  ['top_logprobs', 'the text is the same, and `logprobs` of the response are null'],
  ['prediction', 'it makes the response faster, not different'],
  ['store', 'the response is the same; it cannot be fetched from the provider later'],
  ['truncation', 'a conversation that is too long is refused by the provider instead of shortened'],
  ['context_management', 'a conversation that is too long is refused by the provider instead of shortened'],
]);

/** The parameter of `request` that a translation error refuses; null unless it may be dropped. */
export function droppableIn(request: Json, error: unknown): string | null {
  if (!(error instanceof AppError) || error.code !== 'parameter_unsupported') return null;
  const { parameter } = error.details;
  const isDroppable =
    typeof parameter === 'string' && DROPPABLE_PARAMETERS.has(parameter) && Object.hasOwn(request, parameter);
  return isDroppable ? parameter : null;
}
