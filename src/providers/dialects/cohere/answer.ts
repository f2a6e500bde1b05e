import type { Json } from '../../endpoint.js';
import { isObject, list, stringify, textOf } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { callId } from '../call-id.js';
import { citationFields } from './citations.js';
import { chatUsage } from './usage.js';

/** Why Cohere stopped, in the hub's words. `ERROR` and `TIMEOUT` cut the answer; a stream breaks off
 * with them (`stream.ts`). https://docs.cohere.com/reference/chat */
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

/** A chat answer in the hub's words. Never throws. https://docs.cohere.com/reference/chat */
export function chatAnswer(answer: Json, context: Context): Json {
  const { id, finish_reason, message, usage } = answer;
  const told = chatUsage(usage);
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
    ...(told && { usage: told }),
  };
}

/** Where tools are called, Cohere says what it means to do in `tool_plan`; other models say that in the content. */
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
    ...citationFields(list(citations).filter(isObject).filter(isWritable), isStrict),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** What is nested too deep cannot be sent to the client. */
export const isWritable = (value: Json): boolean => stringify(value) !== '';

const textsIn = (blocks: readonly Json[], kind: 'text' | 'thinking'): string =>
  blocks.map((block) => (typeof block[kind] === 'string' ? block[kind] : '')).join('');

function blockOf({ type, text, thinking }: Json): readonly Json[] {
  if (type === 'thinking' && typeof thinking === 'string') return [{ type, thinking }];
  return typeof text === 'string' ? [{ type: 'text', text }] : [];
}

/** Cohere says `null` of a tool that takes none. */
const argumentsOf = (given: unknown): string =>
  typeof given === 'string' && given !== 'null' ? given : '{}';

function callOf(call: unknown, index: number, requestId: string): readonly Json[] {
  if (!isObject(call) || !isObject(call.function) || typeof call.function.name !== 'string') return [];
  const { name, arguments: given } = call.function;
  const id = typeof call.id === 'string' ? call.id : callId(requestId, index);
  return [{ id, type: 'function', function: { name, arguments: argumentsOf(given) } }];
}
