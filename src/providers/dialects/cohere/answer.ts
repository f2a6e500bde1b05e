import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { callId } from '../call-ids.js';
import { cohereCitationFields } from './citations.js';
import { chatUsage } from './usage.js';

/**
 * Cohere's finish reasons in the hub's format. `ERROR` and `TIMEOUT` mean a truncated response; a stream fails with them (`stream.ts`).
 * https://docs.cohere.com/reference/chat
 */
const FINISH: ReadonlyMap<unknown, string> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR', 'length'],
  ['TIMEOUT', 'length'],
]);

export function finishFields(reason: unknown, isStrict: boolean): Json {
  const finish_reason = FINISH.get(reason) ?? 'stop';
  return { finish_reason, ...(!isStrict && typeof reason === 'string' && { native_finish_reason: reason }) };
}

/** A chat response in the hub's format. Never throws. https://docs.cohere.com/reference/chat */
export function fromCohereChat(answer: Json, context: Context): Json {
  const { id, finish_reason, message, usage } = answer;
  const reported = chatUsage(usage);
  const choice = {
    index: 0,
    message: messageOf(isObject(message) ? message : {}, context),
    logprobs: null,
    ...finishFields(finish_reason, context.isStrict),
  };
  return {
    id: typeof id === 'string' ? id : context.id,
    object: 'chat.completion',
    created: context.created,
    model: context.model,
    choices: [choice],
    ...(reported && { usage: reported }),
  };
}

/** With tool calls, Cohere's plan is in `tool_plan`; other models have it in the content. */
function messageOf({ content, tool_plan, tool_calls, citations }: Json, { id, isStrict }: Context): Json {
  const blocks = list(content).filter(isObject);
  const text = textOf(tool_plan) + textsIn(blocks, 'text');
  const thinking = textsIn(blocks, 'thinking');
  const calls = list(tool_calls).flatMap((call, index) => callOf(call, index, id));
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(!isStrict && thinking !== '' && { content_blocks: blocks.flatMap(blockOf) }),
    ...cohereCitationFields(list(citations).filter(isObject), isStrict),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

const textsIn = (blocks: readonly Json[], kind: 'text' | 'thinking'): string =>
  blocks.map((block) => (typeof block[kind] === 'string' ? block[kind] : '')).join('');

function blockOf({ type, text, thinking }: Json): readonly Json[] {
  if (type === 'thinking' && typeof thinking === 'string') return [{ type, thinking }];
  return typeof text === 'string' ? [{ type: 'text', text }] : [];
}

/** Cohere writes `null` for a tool without parameters. */
const argumentsOf = (given: unknown): string =>
  typeof given === 'string' && given !== 'null' ? given : '{}';

function callOf(call: unknown, index: number, requestId: string): readonly Json[] {
  if (!isObject(call) || !isObject(call.function) || typeof call.function.name !== 'string') return [];
  const { name, arguments: given } = call.function;
  const id = typeof call.id === 'string' ? call.id : callId(requestId, index);
  return [{ id, type: 'function', function: { name, arguments: argumentsOf(given) } }];
}
