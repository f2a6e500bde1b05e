import type { Json } from '../../../endpoint.js';
import { because, type Impossible, refuseImpossible as refuse } from '../../refusing.js';

const NO_SAMPLING = 'Anthropic has no such control of sampling';
const NO_PROBABILITIES = 'Anthropic returns no log probabilities';

/**
 * Parameters of the hub that the Messages API does not support (https://platform.claude.com/docs/en/api/messages). Anthropic's own endpoint
 * for OpenAI's clients ignores most of them (https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk); here they are
 * refused, because ignoring them would change the response.
 */
const IMPOSSIBLE: ReadonlyMap<string, Impossible> = new Map([
  ['n', because('Anthropic gives one response per request', '1')],
  ['logprobs', because(NO_PROBABILITIES, 'false')],
  ['top_logprobs', because(NO_PROBABILITIES, '0')],
  ['logit_bias', because(NO_SAMPLING, '{}')],
  ['seed', because(NO_SAMPLING)],
  ['frequency_penalty', because(NO_SAMPLING, '0')],
  ['presence_penalty', because(NO_SAMPLING, '0')],
  ['audio', because('Anthropic returns no audio')],
  ['modalities', because('Anthropic answers with text only', '["text"]', '[]')],
  ['verbosity', because('Anthropic has no such control of length', '"medium"')],
  ['store', because('Anthropic stores no responses', 'false')],
  ['functions', because('send "tools" instead', '[]')],
  ['function_call', because('send "tool_choice" instead')],
  ['web_search_options', because('send Anthropic\'s own web search tool in "tools" instead')],
]);

/** Whether a parameter of the hub is never sent to Anthropic. */
export const isImpossible = (parameter: string): boolean => IMPOSSIBLE.has(parameter);

/** Throws `parameter_unsupported` for the first parameter whose value Anthropic does not support. */
export const refuseImpossible = (hub: Json): void => refuse(hub, IMPOSSIBLE);
