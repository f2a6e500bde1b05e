import { AppError } from '../../../../common/errors/app-error.js';
import type { Json } from '../../../endpoint.js';
import { stringify } from '../../../endpoints/reading.js';

interface Impossible {
  /** JSON of the values that ask for nothing. Null always does. */
  readonly harmless: readonly string[];
  readonly detail: string;
}

const because = (detail: string, ...harmless: string[]): Impossible => ({ detail, harmless });

const NO_PROBABILITIES = 'Bedrock tells no probabilities';

/**
 * What the hub knows and Converse has no place for (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
 * Penalties, `seed` and the like are not here: some models know them as parameters of their own.
 */
const IMPOSSIBLE: ReadonlyMap<string, Impossible> = new Map([
  ['n', because('Bedrock gives one answer per request', '1')],
  ['logprobs', because(NO_PROBABILITIES, 'false')],
  ['top_logprobs', because(NO_PROBABILITIES, '0')],
  ['logit_bias', because('Bedrock has no such control of sampling', '{}')],
  ['audio', because('Bedrock answers with text only')],
  ['modalities', because('Bedrock answers with text only', '["text"]', '[]')],
  ['store', because('Bedrock stores no answers', 'false')],
  ['functions', because('send "tools" instead', '[]')],
  ['function_call', because('send "tool_choice" instead')],
  ['web_search_options', because('Bedrock searches no web')],
]);

/** Whether the hub's parameter is one of those that a request to Bedrock never carries. */
export const isImpossible = (parameter: string): boolean => IMPOSSIBLE.has(parameter);

/** Throws `parameter_unsupported` for the first parameter that asks for what Bedrock cannot do. */
export function refuseImpossible(hub: Json): void {
  for (const [parameter, { harmless, detail }] of IMPOSSIBLE) {
    const value = hub[parameter] ?? null;
    if (value !== null && !harmless.includes(stringify(value))) throw unsupported(parameter, detail);
  }
}

/** The refusal of one parameter, or of a place in one: `messages[].content[].image_url`. */
export function unsupported(parameter: string, detail: string): AppError {
  return new AppError('parameter_unsupported', { parameter, detail });
}

/** The refusal of a request that the hub's own shape does not allow. */
export function invalid(detail: string): AppError {
  return new AppError('invalid_request', { detail });
}
