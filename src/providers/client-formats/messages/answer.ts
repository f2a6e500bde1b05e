import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { spokenText } from '../spoken.js';
import { citationsOf, inputOf, toolUse } from './blocks.js';
import { sequenceOf, spokenRefusal, stopOf } from './stop.js';
import { wholeUsage } from './usage.js';

/** The hub's `chat.completion` as Anthropic's `message`; of several choices, the first. */
export function messagesAnswer(hub: Json, context: Context): Json {
  const choice = list(hub.choices).find(isObject) ?? {};
  const message = isObject(choice.message) ? choice.message : {};
  const { finish_reason: reason, native_finish_reason: native } = choice;
  const refusal = textOf(message.refusal);
  const content = contentOf(message, spokenRefusal(reason, refusal));
  const hasCalls = content.some(({ type }) => type === 'tool_use');
  return {
    ...envelope(hub, context),
    content,
    ...stopOf({ reason, native, sequence: sequenceOf(choice), hasCalls, refusal }),
    usage: wholeUsage(hub),
  };
}

/** The fields of a message without its content. https://platform.claude.com/docs/en/api/messages */
export function envelope({ id, model }: Json, context: Context): Json {
  return {
    id: typeof id === 'string' && id !== '' ? id : context.id,
    type: 'message',
    role: 'assistant',
    model: typeof model === 'string' && model !== '' ? model : context.model,
    container: null,
    diagnostics: null,
  };
}

/** The provider's own blocks, and its other content; tool calls come last. */
function contentOf(message: Json, refusal: string): Json[] {
  const kept = list(message.content_blocks).filter(isBlock).map(signed);
  const kinds = new Set(kept.map(({ type }) => type));
  const calls = list(message.tool_calls).flatMap((call) => {
    const block = toolUse(
      call,
      inputOf(isObject(call) && isObject(call.function) ? call.function.arguments : null),
    );
    return block ? [block] : [];
  });
  const thinking = kinds.has('thinking') ? [] : thinkingOf(message);
  const text = kinds.has('text') ? [] : textBlocks(message, refusal);
  return [...thinking, ...kept, ...text, ...calls];
}

const KEPT: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['redacted_thinking', 'data'],
]);

function isBlock(block: unknown): block is Json {
  const field = isObject(block) ? KEPT.get(block.type) : undefined;
  return field !== undefined && typeof (block as Json)[field] === 'string';
}

/** Anthropic's format requires a signature. */
const signed = (block: Json): Json =>
  block.type === 'thinking' && typeof block.signature !== 'string' ? { ...block, signature: '' } : block;

function thinkingOf({ reasoning_content, reasoning, content }: Json): Json[] {
  const thinking = textOf(reasoning_content ?? reasoning) + spokenText(content, true);
  return thinking === '' ? [] : [{ type: 'thinking', thinking, signature: '' }];
}

function textBlocks({ content, annotations }: Json, refusal: string): Json[] {
  const text = spokenText(content, false) + refusal;
  const citations = citationsOf(annotations);
  return text === '' ? [] : [{ type: 'text', text, ...(citations.length > 0 ? { citations } : {}) }];
}
