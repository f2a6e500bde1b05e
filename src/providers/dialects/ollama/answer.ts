import type { Json } from '../../endpoint.js';
import { count, isObject, list, stringify, textOf } from '../../endpoints/reading.js';
import type { Context } from '../../translation.js';
import { callId } from '../call-ids.js';

/** A chat response in the hub's format. Never throws. https://docs.ollama.com/api/chat */
export function fromOllamaChat(answer: Json, context: Context): Json {
  const message = isObject(answer.message) ? answer.message : {};
  const calls = ollamaCalls(message, 0, context.id);
  const text = textOf(message.content);
  const thinking = textOf(message.thinking);
  const usage = ollamaUsage(answer);
  const choice = {
    index: 0,
    message: {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      refusal: null,
      ...(thinking === '' ? {} : { reasoning_content: thinking }),
      ...(calls.length > 0 ? { tool_calls: calls.map(({ call }) => call) } : {}),
    },
    logprobs: null,
    ...finishOf(answer, calls.length > 0, context),
  };
  const { id, created, model } = context;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [choice],
    ...(usage ? { usage } : {}),
  };
}

/** `stop`, `length`; `load` and `unload` for requests without messages. Calls have no reason of their own. */
export function finishOf({ done_reason: reason }: Json, hasCalls: boolean, { isStrict }: Context): Json {
  const end = hasCalls ? 'tool_calls' : 'stop';
  return {
    finish_reason: reason === 'length' ? 'length' : end,
    ...(isStrict || typeof reason !== 'string' ? {} : { native_finish_reason: reason }),
  };
}

/** Null unless both counts are reported: servers that did not count report zeros. The gateway then counts the text. */
export function ollamaUsage({ prompt_eval_count: read, eval_count: written }: Json): Json | null {
  const [input, output] = [count(read), count(written)];
  if (input === null || output === null || input + output === 0) return null;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

interface IndexedCall {
  readonly index: number;
  readonly call: Json;
}

/** Calls, each complete, numbered from `first`. */
export function ollamaCalls(
  { tool_calls: calls }: Json,
  first: number,
  requestId: string,
): readonly IndexedCall[] {
  const functions = list(calls).flatMap((call) =>
    isObject(call) && isObject(call.function) && typeof call.function.name === 'string'
      ? [call.function]
      : [],
  );
  return functions.map(({ name, arguments: given }, position) => {
    const index = first + position;
    const called = { name, arguments: isObject(given) ? stringify(given) : '{}' };
    return { index, call: { id: callId(requestId, index), type: 'function', function: called } };
  });
}
