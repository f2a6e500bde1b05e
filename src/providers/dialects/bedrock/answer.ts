import type { Json } from '../../endpoint.js';
import { isObject, list, stringify, textOf } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { bedrockCitationFields, type BedrockCitations, sortBedrockCitations } from './citations.js';
import { fromConverseStopReason, converseStopFields } from './finish.js';
import { bedrockServiceTier, bedrockUsage } from './usage.js';

/** Converse's response as the hub's `chat.completion`. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export function fromConverseResponse(answer: Json, context: Context): Json {
  const { output, stopReason: reason } = answer;
  const { id, created, model, isStrict } = context;
  const message = isObject(output) ? output.message : null;
  const usage = bedrockUsage(answer.usage);
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: messageOf(isObject(message) ? message.content : null, isStrict),
        logprobs: null,
        finish_reason: fromConverseStopReason(reason),
        ...converseStopFields(reason, stopSequenceOf(answer), isStrict),
      },
    ],
    ...(usage ? { usage } : {}),
    ...bedrockServiceTier(answer.serviceTier),
    ...(isStrict ? {} : extras(answer)),
  };
}

/** The matched stop sequence, if the request asked for it. */
export function stopSequenceOf({ additionalModelResponseFields: fields }: Json): unknown {
  return isObject(fields) ? fields.stop_sequence : null;
}

/** Bedrock's further fields, under its own names. */
export function extras({ trace, additionalModelResponseFields: fields }: Json): Json {
  return {
    ...(isObject(trace) ? { trace } : {}),
    ...(isObject(fields) ? { additionalModelResponseFields: fields } : {}),
  };
}

/**
 * The `type` of a call that Bedrock runs itself, such as Nova's `nova_grounding`: the response's text reports its result, and the client
 * has nothing to run. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
 */
export const SERVERS_OWN = 'server_tool_use';

interface BedrockMessageParts extends BedrockCitations {
  text: string;
  thinking: string;
  readonly calls: Json[];
  /** Everything but the calls, as the hub's blocks. */
  readonly blocks: Json[];
}

function messageOf(content: unknown, isStrict: boolean): Json {
  const parts: BedrockMessageParts = {
    text: '',
    thinking: '',
    calls: [],
    blocks: [],
    annotations: [],
    citations: [],
  };
  for (const block of list(content)) if (isObject(block)) readBlock(block, parts);
  return {
    role: 'assistant',
    content: parts.text === '' && parts.calls.length > 0 ? null : parts.text,
    refusal: null,
    ...(parts.thinking === '' ? {} : { reasoning_content: parts.thinking }),
    ...(parts.calls.length > 0 ? { tool_calls: parts.calls } : {}),
    ...bedrockCitationFields(parts, isStrict),
    ...(isStrict || parts.blocks.length === 0 ? {} : { content_blocks: parts.blocks }),
  };
}

/**
 * A block has exactly one of these members, which names its kind.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */
function readBlock(
  { text, reasoningContent, toolUse, citationsContent }: Json,
  parts: BedrockMessageParts,
): void {
  if (typeof text === 'string') readText(text, [], parts);
  if (isObject(reasoningContent)) readReasoning(reasoningContent, parts);
  if (isObject(toolUse)) readCall(toolUse, parts);
  if (isObject(citationsContent))
    readText(textOf(citationsContent.content), list(citationsContent.citations), parts);
}

function readText(text: string, citations: readonly unknown[], parts: BedrockMessageParts): void {
  const start = parts.text.length;
  parts.text += text;
  parts.blocks.push({ type: 'text', text });
  const sorted = sortBedrockCitations(citations, start, parts.text.length);
  parts.annotations.push(...sorted.annotations);
  parts.citations.push(...sorted.citations);
}

function readReasoning({ reasoningText, redactedContent: data }: Json, parts: BedrockMessageParts): void {
  if (typeof data === 'string') parts.blocks.push({ type: 'redacted_thinking', data });
  if (!isObject(reasoningText) || typeof reasoningText.text !== 'string') return;
  const { text, signature } = reasoningText;
  parts.thinking += text;
  parts.blocks.push({
    type: 'thinking',
    thinking: text,
    ...(typeof signature === 'string' ? { signature } : {}),
  });
}

function readCall({ toolUseId: id, name, input, type }: Json, parts: BedrockMessageParts): void {
  if (typeof id !== 'string' || typeof name !== 'string' || type === SERVERS_OWN) return;
  const given = isObject(input) ? stringify(input) : '{}';
  parts.calls.push({ id, type: 'function', function: { name, arguments: given } });
}
