import type { Json } from '../../endpoint.js';
import { isObject, list, stringify } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { anthropicCitationFields, type AnthropicCitations, sortAnthropicCitations } from './citations.js';
import { fromStopReason, anthropicStopFields, refusalText } from './finish.js';
import { anthropicServiceTier, anthropicUsage } from './usage.js';

/** An Anthropic `message` as the hub's `chat.completion`. https://platform.claude.com/docs/en/api/messages */
export function fromAnthropicMessage(answer: Json, context: Context): Json {
  const { id, model, stop_reason: reason, usage } = answer;
  const reported = anthropicUsage(usage);
  return {
    id: typeof id === 'string' ? id : context.id,
    object: 'chat.completion',
    created: context.created,
    model: typeof model === 'string' ? model : context.model,
    choices: [
      {
        index: 0,
        message: messageOf(answer, context),
        logprobs: null,
        finish_reason: fromStopReason(reason),
        ...anthropicStopFields(reason, answer.stop_sequence, context.isStrict),
      },
    ],
    ...(reported ? { usage: reported } : {}),
    ...anthropicServiceTier(usage),
  };
}

interface AnthropicMessageParts extends AnthropicCitations {
  text: string;
  thinking: string;
  readonly calls: Json[];
}

function messageOf({ content, stop_details: details }: Json, { isStrict }: Context): Json {
  const { parts, others } = read(content, isStrict);
  const message: Record<string, unknown> = {
    role: 'assistant',
    content: parts.text === '' && parts.calls.length > 0 ? null : parts.text,
    refusal: refusalText(details),
  };
  if (parts.thinking !== '') message.reasoning_content = parts.thinking;
  if (parts.calls.length > 0) message.tool_calls = parts.calls;
  Object.assign(message, anthropicCitationFields(parts, isStrict));
  if (others.length > 0) message.content_blocks = others;
  return message;
}

/** Reads the blocks. `others`: blocks that are passed on unchanged, for responses that need not be strict. */
function read(
  content: unknown,
  isStrict: boolean,
): { readonly parts: AnthropicMessageParts; readonly others: readonly Json[] } {
  const parts: AnthropicMessageParts = { text: '', thinking: '', calls: [], annotations: [], citations: [] };
  const others: Json[] = [];
  for (const block of list(content)) {
    if (!isObject(block)) continue;
    READERS.get(block.type)?.(block, parts);
    if (!isStrict && block.type !== 'tool_use') others.push(block);
  }
  return { parts, others };
}

/** How each kind of block is read. Other kinds are actions of Anthropic's own tools, which the response's text describes. */
const READERS: ReadonlyMap<unknown, (block: Json, parts: AnthropicMessageParts) => void> = new Map<
  unknown,
  (block: Json, parts: AnthropicMessageParts) => void
>([
  ['text', readText],
  ['thinking', readThinking],
  ['tool_use', readCall],
]);

function readText({ text, citations }: Json, parts: AnthropicMessageParts): void {
  if (typeof text !== 'string') return;
  const start = parts.text.length;
  parts.text += text;
  if (!Array.isArray(citations)) return;
  const sorted = sortAnthropicCitations(citations, { start, end: parts.text.length });
  parts.annotations.push(...sorted.annotations);
  parts.citations.push(...sorted.citations);
}

function readThinking({ thinking }: Json, parts: AnthropicMessageParts): void {
  if (typeof thinking === 'string') parts.thinking += thinking;
}

function readCall({ id, name, input }: Json, parts: AnthropicMessageParts): void {
  if (typeof id !== 'string' || typeof name !== 'string') return;
  const given = isObject(input) ? stringify(input) : '{}';
  parts.calls.push({ id, type: 'function', function: { name, arguments: given } });
}
