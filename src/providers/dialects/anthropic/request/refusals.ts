import type { Json } from '../../../endpoint.js';
import { because, type Impossible, refuseImpossible as refuse } from '../../refusing.js';

const NO_SAMPLING = 'Anthropic has no such control of sampling';
const NO_PROBABILITIES = 'Anthropic returns no log probabilities';

/**
 * What the hub knows and the Messages API cannot do (https://platform.claude.com/docs/en/api/messages). Anthropic's own
 * endpoint for OpenAI's clients ignores most of these
 * (https://platform.claude.com/docs/en/cli-sdks-libraries/libraries/openai-sdk); here they are refused, because an
 * answer without them is another answer.
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

/** Whether the hub's parameter is one of those that a request to Anthropic never carries. */
export const isImpossible = (parameter: string): boolean => IMPOSSIBLE.has(parameter);

/** Throws `parameter_unsupported` for the first parameter that asks for what Anthropic cannot do. */
export const refuseImpossible = (hub: Json): void => refuse(hub, IMPOSSIBLE);
