import type { Json } from '../../endpoint.js';
import { isObject } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { others, withoutNulls } from '../asked-media.js';
import { because, refuseImpossible, unsupportedParameter } from '../refusing.js';
import { stopSequences } from '../stop.js';
import { fromOllamaChat } from './answer.js';
import { ollamaError } from './errors.js';
import { ollamaMessages } from './messages.js';
import { OllamaStream } from './stream.js';

const IMPOSSIBLE = new Map([
  ['n', because('Ollama gives one response per request', '1')],
  ['logprobs', because("Ollama's probabilities are not read", 'false')],
  ['top_logprobs', because("Ollama's probabilities are not read", '0')],
  ['logit_bias', because('Ollama has no such control of sampling', '{}')],
  ['audio', because('Ollama returns no audio')],
  ['modalities', because('Ollama returns text only', '["text"]', '[]')],
  ['parallel_tool_calls', because('Ollama has no such parameter', 'true')],
  ['verbosity', because('Ollama has no such control of length', '"medium"')],
  ['functions', because('send "tools" instead', '[]')],
  ['function_call', because('send "tool_choice" instead')],
  ['web_search_options', because('Ollama has no web search')],
]);

/** The hub's parameters under the names of Ollama's `options`. https://docs.ollama.com/modelfile#valid-parameters-and-values */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['temperature', 'temperature'],
  ['top_p', 'top_p'],
  ['top_k', 'top_k'],
  ['min_p', 'min_p'],
  ['seed', 'seed'],
  ['frequency_penalty', 'frequency_penalty'],
  ['presence_penalty', 'presence_penalty'],
  ['max_tokens', 'num_predict'],
  ['max_completion_tokens', 'num_predict'],
  ['stop', 'stop'],
]);

/** Translated below, or without effect on the response. */
const READ: ReadonlySet<string> = new Set([
  ...IMPOSSIBLE.keys(),
  ...OPTIONS.keys(),
  'options',
  'messages',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  'thinking',
  'user',
  'metadata',
  'store',
  'safety_identifier',
  'service_tier',
  'prompt_cache_key',
  'prediction',
]);

/** `keep_alive`, `think` and others are passed on. Throws `parameter_unsupported`. https://docs.ollama.com/api/chat */
function request(hub: Json, { model, isStreamed }: Context): ProviderRequest {
  refuseImpossible(hub, IMPOSSIBLE);
  const body = {
    ...withoutNulls({ think: thinkOf(hub, model), format: formatOf(hub.response_format) }),
    ...others(hub, READ),
    model,
    messages: ollamaMessages(hub.messages),
    ...toolsOf(hub),
    ...optionsOf(hub),
    stream: isStreamed,
  };
  return { path: '/api/chat', body };
}

function optionsOf(hub: Json): Json {
  const own = [...OPTIONS].flatMap(([name, option]) =>
    (hub[name] ?? null) === null ? [] : [[option, name === 'stop' ? stopSequences(hub) : hub[name]] as const],
  );
  const options = { ...Object.fromEntries(own), ...(isObject(hub.options) ? hub.options : {}) };
  return Object.keys(options).length > 0 ? { options } : {};
}

function formatOf(format: unknown): unknown {
  if (!isObject(format)) return null;
  if (format.type === 'json_object') return 'json';
  return isObject(format.json_schema) ? format.json_schema.schema : null;
}

/** Ollama has no tool choice: a request has tools, or none. */
function toolsOf({ tools, tool_choice: choice }: Json): Json {
  if (choice === 'none' || !Array.isArray(tools) || tools.length === 0) return {};
  if ((choice ?? 'auto') !== 'auto')
    throw unsupportedParameter('tool_choice', 'Ollama supports auto and none');
  return { tools: tools as unknown };
}

/** The gpt-oss models have efforts; others can only turn thinking on or off. https://docs.ollama.com/capabilities/thinking */
function thinkOf({ reasoning_effort: effort, thinking }: Json, model: string): unknown {
  if (isObject(thinking) && thinking.type !== 'adaptive') return thinking.type !== 'disabled';
  if ((effort ?? null) === null) return null;
  if (effort === 'none') return false;
  if (!model.includes('gpt-oss')) return true;
  return EFFORTS.get(effort) ?? 'high';
}

const EFFORTS: ReadonlyMap<unknown, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
]);

export const ollamaChat: Translator = {
  request,
  answer: fromOllamaChat,
  error: ollamaError,
  stream: { framing: 'json-lines', open: (context) => new OllamaStream(context) },
};
