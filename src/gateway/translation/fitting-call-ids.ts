import { CallIds } from '../../providers/dialects/call-ids.js';
import type { Json } from '../../providers/endpoint.js';
import { isObject } from '../../providers/endpoints/reading.js';
import type { CallIdRule } from '../../providers/provider.js';

/** A message with tool call ids that the provider accepts; the same object if it has them already. */
export function withIds(message: unknown, ids: CallIds | null): unknown {
  if (!ids || !isObject(message)) return message;
  const { tool_calls: calls, tool_call_id: id } = message;
  if (typeof id === 'string') {
    const fitting = ids.of(id);
    return fitting === id ? message : { ...message, tool_call_id: fitting };
  }
  if (!Array.isArray(calls)) return message;
  const fitting = (calls as readonly unknown[]).map((call) => withId(call, ids));
  return fitting.every((call, at) => call === calls[at]) ? message : { ...message, tool_calls: fitting };
}

function withId(call: unknown, ids: CallIds): unknown {
  if (!isObject(call) || typeof call.id !== 'string') return call;
  const fitting = ids.of(call.id);
  return fitting === call.id ? call : ({ ...call, id: fitting } satisfies Json);
}

/** A chat with tool call ids that the provider accepts; the same object if it has them already, as nearly always. */
export function withFittingIds(chat: Json, rule: CallIdRule): Json {
  const { messages } = chat;
  if (!Array.isArray(messages) || messages.every((message) => fits(message, rule))) return chat;
  const ids = new CallIds(rule);
  return { ...chat, messages: messages.map((message) => withIds(message, ids)) };
}

function fits(message: unknown, { fitting }: CallIdRule): boolean {
  if (!isObject(message)) return true;
  const { tool_calls: calls, tool_call_id: id } = message;
  const isFitting = (given: unknown): boolean => typeof given !== 'string' || fitting.test(given);
  return (
    isFitting(id) && (!Array.isArray(calls) || calls.every((call) => !isObject(call) || isFitting(call.id)))
  );
}
