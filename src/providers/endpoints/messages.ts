import type { Usage } from '../../common/contracts/usage.js';
import type { Json, UsageReader } from '../endpoint.js';
import { checkedUsage, type FinerCounts, latest } from './checked-usage.js';
import { isObject, list, objectOf, plainTextIn, stringify, textOf, textOrNull } from './reading.js';

/**
 * Reads Anthropic's messages, plain and streamed.
 *
 * Their `input_tokens` are those after the last cache mark; the whole input is the sum with cache reads and writes. In a stream,
 * `message_start` reports the input and the first tokens of the output, and `message_delta` the totals so far, not increments.
 * https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/resources/messages/messages.ts (Usage, MessageDeltaUsage)
 * https://docs.claude.com/en/docs/build-with-claude/streaming
 */
export const messagesUsage: UsageReader = {
  fromAnswer: (answer, known) => usageOf(answer.usage ?? objectOf(answer.message).usage, known ?? null),

  modelOf: ({ model, message }) => textOrNull(model ?? objectOf(message).model),

  /** Of the usage: https://platform.claude.com/docs/en/api/service-tiers */
  tierOf: ({ usage, message }) => textOrNull(objectOf(usage ?? objectOf(message).usage).service_tier),

  outputText(answer) {
    if (isObject(answer.delta)) return deltaText(answer.delta);
    return blocksText(isObject(answer.content_block) ? [answer.content_block] : answer.content);
  },

  passingText: (json) => plainTextIn(json, '"delta":{"type":"text_delta","text":"', '"}'),

  marksBeginning: ({ type }) => type === 'message_start',

  inputText({ system, messages, tools }) {
    let text = textOf(system);
    for (const message of list(messages)) {
      if (isObject(message)) text += blocksText(message.content) + '\n';
    }
    return text + (Array.isArray(tools) ? stringify(tools) : '');
  },
};

function usageOf(raw: unknown, known: Usage | null): Usage | null {
  if (!isObject(raw)) return null;
  const cached = latest(raw.cache_read_input_tokens, known?.cached_input_tokens) ?? 0;
  const written = latest(raw.cache_creation_input_tokens, known?.cache_write_tokens) ?? 0;
  const fresh = latest(raw.input_tokens, known ? freshOf(known) : undefined);
  const output = latest(raw.output_tokens, known?.output_tokens);
  return checkedUsage(fresh === null ? null : fresh + cached + written, output, {
    cached_input_tokens: cached,
    cache_write_tokens: written,
    ...finerOf(raw, known ?? NOTHING_KNOWN),
  });
}

const NOTHING_KNOWN: Partial<Usage> = {};

/** Cache writes that are kept for an hour cost more; searches are charged per search. */
function finerOf(raw: Json, known: Partial<Usage>): FinerCounts {
  const { ephemeral_1h_input_tokens: hour } = objectOf(raw.cache_creation);
  const { web_search_requests: searches } = objectOf(raw.server_tool_use);
  const { thinking_tokens: thinking } = objectOf(raw.output_tokens_details);
  return {
    cache_write_1h_tokens: latest(hour, known.cache_write_1h_tokens),
    web_searches: latest(searches, known.web_searches),
    reasoning_tokens: latest(thinking, known.reasoning_tokens),
  };
}

const freshOf = ({ input_tokens, cached_input_tokens = 0, cache_write_tokens = 0 }: Usage): number =>
  Math.max(0, input_tokens - cached_input_tokens - cache_write_tokens);

function deltaText({ text, thinking, partial_json }: Json): string {
  return textOf(text) + textOf(thinking) + textOf(partial_json);
}

/** Maximum nesting of a tool result: it contains text blocks, but no further results. */
const DEPTH = 2;

function blocksText(content: unknown, depth = DEPTH): string {
  if (typeof content === 'string') return content;
  if (depth === 0) return '';
  let text = '';
  for (const block of list(content)) if (isObject(block)) text += blockText(block, depth);
  return text;
}

function blockText({ type, text, thinking, name, input, content }: Json, depth: number): string {
  if (type === 'tool_use' || type === 'server_tool_use')
    return textOf(name) + (isObject(input) && Object.keys(input).length > 0 ? stringify(input) : '');
  return textOf(text) + textOf(thinking) + blocksText(content, depth - 1);
}
