import type { Json } from '../../../endpoint.js';
import { because, type Impossible, refuseImpossible as refuse } from '../../refusing.js';

const NO_PROBABILITIES = 'Bedrock returns no log probabilities';

/**
 * Parameters of the hub that Converse does not support (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
 * Penalties, `seed` and the like are not listed: some models have them as parameters of their own.
 */
const IMPOSSIBLE: ReadonlyMap<string, Impossible> = new Map([
  ['n', because('Bedrock gives one response per request', '1')],
  ['logprobs', because(NO_PROBABILITIES, 'false')],
  ['top_logprobs', because(NO_PROBABILITIES, '0')],
  ['logit_bias', because('Bedrock has no such control of sampling', '{}')],
  ['audio', because('Bedrock answers with text only')],
  ['modalities', because('Bedrock answers with text only', '["text"]', '[]')],
  ['store', because('Bedrock stores no responses', 'false')],
  ['functions', because('send "tools" instead', '[]')],
  ['function_call', because('send "tool_choice" instead')],
  ['web_search_options', because('Bedrock has no web search')],
]);

/** Whether a parameter of the hub is never sent to Bedrock. */
export const isImpossible = (parameter: string): boolean => IMPOSSIBLE.has(parameter);

/** Throws `parameter_unsupported` for the first parameter whose value Bedrock does not support. */
export const refuseImpossible = (hub: Json): void => refuse(hub, IMPOSSIBLE);
