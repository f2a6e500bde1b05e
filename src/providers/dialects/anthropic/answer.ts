import type { Json } from '../../endpoint.js';
import { isObject, list, stringify } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { citationFields, type AnthropicCitations, sortCitations } from './citations.js';
import { finishReason, nativeReason, refusalText } from './finish.js';
import { hubTier, hubUsage } from './usage.js';

/** An Anthropic `message` as the hub's `chat.completion`. https://platform.claude.com/docs/en/api/messages */
export function hubAnswer(answer: Json, context: Context): Json {
  const { id, model, stop_reason: reason, usage } = answer;
  const told = hubUsage(usage);
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
        finish_reason: finishReason(reason),
        ...nativeReason(reason, answer.stop_sequence, context.isStrict),
      },
    ],
    ...(told ? { usage: told } : {}),
    ...hubTier(usage),
  };
}

interface AnswerParts extends AnthropicCitations {
  text: string;
  thinking: string;
  readonly calls: Json[];
}

function messageOf({ content, stop_details: details }: Json, { isStrict }: Context): Json {
  const { said, others } = read(content, isStrict);
  const message: Record<string, unknown> = {
    role: 'assistant',
    content: said.text === '' && said.calls.length > 0 ? null : said.text,
    refusal: refusalText(details),
  };
  if (said.thinking !== '') message.reasoning_content = said.thinking;
  if (said.calls.length > 0) message.tool_calls = said.calls;
  Object.assign(message, citationFields(said, isStrict));
  if (others.length > 0) message.content_blocks = others;
  return message;
}

/** Reads the blocks. `others`: blocks that are passed on unchanged, for responses that need not be strict. */
function read(
  content: unknown,
  isStrict: boolean,
): { readonly said: AnswerParts; readonly others: readonly Json[] } {
  const said: AnswerParts = { text: '', thinking: '', calls: [], annotations: [], citations: [] };
  const others: Json[] = [];
  for (const block of list(content)) {
    if (!isObject(block)) continue;
    READERS.get(block.type)?.(block, said);
    if (!isStrict && block.type !== 'tool_use') others.push(block);
  }
  return { said, others };
}

/** How each kind of block is read. Other kinds are actions of Anthropic's own tools, which the response's text describes. */
const READERS: ReadonlyMap<unknown, (block: Json, said: AnswerParts) => void> = new Map<
  unknown,
  (block: Json, said: AnswerParts) => void
>([
  ['text', readText],
  ['thinking', readThinking],
  ['tool_use', readCall],
]);

function readText({ text, citations }: Json, said: AnswerParts): void {
  if (typeof text !== 'string') return;
  const start = said.text.length;
  said.text += text;
  if (!Array.isArray(citations)) return;
  const sorted = sortCitations(citations, { start, end: said.text.length });
  said.annotations.push(...sorted.annotations);
  said.citations.push(...sorted.citations);
}

function readThinking({ thinking }: Json, said: AnswerParts): void {
  if (typeof thinking === 'string') said.thinking += thinking;
}

function readCall({ id, name, input }: Json, said: AnswerParts): void {
  if (typeof id !== 'string' || typeof name !== 'string') return;
  const given = isObject(input) ? stringify(input) : '{}';
  said.calls.push({ id, type: 'function', function: { name, arguments: given } });
}
