import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import { messagesOfInput } from './messages.js';
import { invalidResponsesRequest, refuseTheImpossible, unsupportedResponsesParameter } from './refusing.js';
import { ToolNames } from './tool-names.js';
import { toolChoiceOf, responsesTools } from './tools.js';

/** Parameters that the hub has elsewhere, or that have no meaning there. All others are passed on under their own names. */
const READ: ReadonlySet<string> = new Set([
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'max_output_tokens',
  'top_logprobs',
  'include',
  // It would limit only calls of built-in tools, which are refused.
  'max_tool_calls',
  'stream_options',
  'store',
  'background',
  'truncation',
  // Codex's data about itself, for OpenAI.
  'client_metadata',
]);

/**
 * A request to `POST /v1/responses` in the hub's format. Throws `invalid_request` or `parameter_unsupported`.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export function hubRequest(body: Json): Json {
  refuseTheImpossible(body);
  const names = ToolNames.of(body);
  return present({
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !READ.has(name))),
    messages: [...instructionsOf(body.instructions), ...messagesOfInput(body.input, names)],
    // The older name: all providers with chat completions but without responses support it.
    max_tokens: body.max_output_tokens,
    ...toolParameters(body, names),
    ...textParameters(body.text),
    ...reasoningParameters(body.reasoning),
    ...logprobParameters(body),
  });
}

const present = (parameters: Json): Json =>
  Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null));

function instructionsOf(instructions: unknown): readonly Json[] {
  if (instructions === undefined || instructions === null) return [];
  if (typeof instructions !== 'string') throw invalidResponsesRequest('"instructions" must be a string');
  return [{ role: 'system', content: instructions }];
}

/** Chat completions refuses tool parameters without tools. */
function toolParameters(body: Json, names: ToolNames): Json {
  const { tool_choice, parallel_tool_calls } = body;
  const known = responsesTools(body, names);
  const choice = toolChoiceOf(tool_choice, names);
  return known ? { tools: known, tool_choice: choice, parallel_tool_calls } : {};
}

function textParameters(text: unknown): Json {
  if (text === undefined || text === null) return {};
  if (!isObject(text)) throw invalidResponsesRequest('"text" must be an object');
  return { response_format: formatOf(text.format), verbosity: text.verbosity };
}

function formatOf(format: unknown): Json | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalidResponsesRequest('"text.format" must be an object');
  const { type, name, schema, strict, description } = format;
  if (type === 'text') return undefined;
  if (type === 'json_object') return { type };
  if (type !== 'json_schema')
    throw invalidResponsesRequest('"text.format.type" must be text, json_object or json_schema');
  return { type, json_schema: present({ name, schema, strict, description }) };
}

/** A summary is not a parameter of chat completions: it determines where the response has its reasoning (`reasoning-item.ts`). */
function reasoningParameters(reasoning: unknown): Json {
  if (reasoning === undefined || reasoning === null) return {};
  if (!isObject(reasoning)) throw invalidResponsesRequest('"reasoning" must be an object');
  if (reasoning.mode === 'pro')
    throw unsupportedResponsesParameter('reasoning.mode', 'only OpenAI has the mode "pro"');
  return { reasoning_effort: reasoning.effort };
}

const LOGPROBS = 'message.output_text.logprobs';

function logprobParameters({ include, top_logprobs }: Json): Json {
  const hasTopLogprobs = typeof top_logprobs === 'number' && top_logprobs > 0;
  const isRequested = hasTopLogprobs || list(include).includes(LOGPROBS);
  return isRequested ? { logprobs: true, ...(hasTopLogprobs && { top_logprobs }) } : {};
}
