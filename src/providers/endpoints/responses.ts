import type { Json, UsageReader } from '../endpoint.js';
import type { FinerCounts } from './checked-usage.js';
import { isObject, list, objectOf, plainTextIn, stringify, textOf, textOrNull } from './reading.js';
import { tokenUsageOf } from './openai-usage.js';

/** Events that add text to the response. Those of audio and images contain bytes, not text. */
const DELTAS: ReadonlySet<unknown> = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.function_call_arguments.delta',
  'response.custom_tool_call_input.delta',
  'response.mcp_call_arguments.delta',
  'response.code_interpreter_call_code.delta',
]);

const TEXT_DELTA = '{"type":"response.output_text.delta"';

/**
 * Reads OpenAI's responses. A plain response has `usage` itself; in a stream it is in the `response` of the last event,
 * `response.completed`, `response.incomplete` or `response.failed`; it is null in earlier ones.
 * https://github.com/openai/openai-node/blob/master/src/resources/responses/responses.ts
 */
export const responsesUsage: UsageReader = {
  fromAnswer(answer) {
    const { usage, output } = responseOf(answer);
    return tokenUsageOf(usage, isObject(usage) ? searchesIn(output) : {});
  },

  modelOf: (answer) => textOrNull(responseOf(answer).model),

  tierOf: (answer) => textOrNull(responseOf(answer).service_tier),

  outputText(answer) {
    if (typeof answer.type === 'string') return DELTAS.has(answer.type) ? textOf(answer.delta) : '';
    return itemsText(answer.output);
  },

  passingText: (json) => (json.startsWith(TEXT_DELTA) ? plainTextIn(json, '"delta":"', '"') : null),

  inputText: ({ instructions, input, tools }) =>
    textOf(instructions) +
    (typeof input === 'string' ? input : itemsText(input)) +
    (Array.isArray(tools) ? stringify(tools) : ''),
};

/**
 * The output of a compaction is encrypted, so it cannot be counted: a usage without output tokens beside it reports nothing.
 * https://developers.openai.com/api/reference/resources/responses/methods/compact
 */
export const compactionUsage: UsageReader = {
  ...responsesUsage,
  fromAnswer(answer, known) {
    const usage = responsesUsage.fromAnswer(answer, known);
    return usage?.output_tokens === 0 && list(answer.output).length > 0 ? null : usage;
  },
};

/**
 * Searches are charged per search. Opening a page that was found, or searching in it, does not count.
 * https://platform.openai.com/docs/pricing
 */
function searchesIn(output: unknown): FinerCounts {
  let web = 0;
  let files = 0;
  for (const item of list(output)) {
    const { type, action } = objectOf(item);
    if (type === 'web_search_call' && (objectOf(action).type ?? 'search') === 'search') web++;
    if (type === 'file_search_call') files++;
  }
  return { web_searches: web, file_searches: files };
}

const responseOf = (answer: Json): Json => (isObject(answer.response) ? answer.response : answer);

function itemsText(items: unknown): string {
  let text = '';
  for (const item of list(items)) if (isObject(item)) text += itemText(item);
  return text;
}

/** A message, a piece of reasoning, a tool call or its result, or tools declared in the input. */
function itemText(item: Json): string {
  const { content, summary, name, input, output } = item;
  return (
    textOf(content) +
    textOf(summary) +
    textOf(name) +
    textOf(item.arguments) +
    textOf(input) +
    textOf(output) +
    (Array.isArray(item.tools) ? stringify(item.tools) : '')
  );
}
