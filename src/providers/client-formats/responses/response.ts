import type { Json } from '../../endpoint.js';
import { chatCompletionsUsage } from '../../endpoints/chat-completions.js';
import { isObject, list } from '../../endpoints/reading.js';
import type { Context, HubError } from '../../translation.js';

/** The fields of a response that change until its end. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly Json[];
  readonly model: string | null;
  readonly service_tier: string | null;
  readonly usage: Json | null;
  readonly finishReason: string | null;
  readonly error: HubError | null;
}

export const BEGINNING: ResponseState = {
  status: 'in_progress',
  output: [],
  model: null,
  service_tier: null,
  usage: null,
  finishReason: null,
  error: null,
};

/**
 * A response object, which repeats much of its request. Fields that the client left out have OpenAI's defaults, except for sampling, where
 * the provider's own are unknown, and `store`, because nothing is stored. https://platform.openai.com/docs/api-reference/responses/object
 */
export function responseObject(request: Json, context: Context, state: ResponseState): Json {
  return {
    id: `resp_${idSuffix(context)}`,
    object: 'response',
    created_at: context.created,
    status: state.status,
    background: false,
    error: state.error && { code: errorCode(state.error), message: state.error.message },
    incomplete_details: incompleteDetails(state),
    model: state.model ?? context.model,
    output: state.output,
    usage: state.usage,
    service_tier: state.service_tier ?? request.service_tier ?? 'auto',
    store: false,
    previous_response_id: null,
    ...repeated(request),
  };
}

/** Ids of the response and its items derive from the exchange's, so that its log can be found by them. */
export const idSuffix = ({ id }: Context): string => id.replaceAll(/[^A-Za-z0-9]/g, '');

const DEFAULTS: Json = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  safety_identifier: null,
  temperature: null,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
};

function repeated(request: Json): Json {
  const reasoning = isObject(request.reasoning) ? request.reasoning : {};
  const text = isObject(request.text) ? request.text : {};
  return {
    ...Object.fromEntries(Object.entries(DEFAULTS).map(([name, value]) => [name, request[name] ?? value])),
    reasoning: { effort: null, summary: null, ...reasoning },
    text: { verbosity: 'medium', ...text, format: text.format ?? { type: 'text' } },
    tools: list(request.tools),
  };
}

const REASONS: ReadonlyMap<string | null, string> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
]);

/** Whether a response with this finish reason is complete. */
export const isWhole = (finishReason: string | null): boolean => !REASONS.has(finishReason);

function incompleteDetails({ status, finishReason }: ResponseState): Json | null {
  const reason = REASONS.get(finishReason);
  return status === 'incomplete' && reason !== undefined ? { reason } : null;
}

const ERROR_CODES: ReadonlyMap<string, string> = new Map([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['rate_limit_exceeded', 'rate_limit_exceeded'],
  ['invalid_request_error', 'invalid_prompt'],
]);

/** A response object has fewer error codes than an error response. */
const errorCode = ({ type, code }: HubError): string =>
  ERROR_CODES.get(code ?? '') ?? ERROR_CODES.get(type) ?? 'server_error';

/** The usage of the hub's response or chunk in the format of responses; null when there is none. */
export function responsesUsageIn(hub: Json): Json | null {
  const usage = chatCompletionsUsage.fromAnswer(hub);
  if (!usage) return null;
  const { input_tokens, output_tokens } = usage;
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: usage.cached_input_tokens ?? 0,
      cache_write_tokens: usage.cache_write_tokens ?? 0,
    },
    output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: input_tokens + output_tokens,
  };
}
