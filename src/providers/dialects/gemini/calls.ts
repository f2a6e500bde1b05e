import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import { word } from './fields.js';
import type { Host } from './host.js';
import { isGemini3 } from './models.js';
import { geminiParts } from './parts.js';
import { signatureOf, UNSIGNED } from './signature.js';

/** A tool call of the hub, from any of OpenAI's three forms. */
export interface GeminiCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
  readonly signature: string | undefined;
}

/** The calls of an assistant's message, in order. Calls without a name are ignored. */
export function geminiCalls(message: Json): GeminiCall[] {
  const calls = list(message.tool_calls).filter(isObject).map(callOf);
  if (isObject(message.function_call)) calls.push(callOf({ function: message.function_call }));
  return calls.filter(({ name }) => name !== '');
}

function callOf(call: Json): GeminiCall {
  const called = [call.function, call.custom].find(isObject) ?? {};
  const name = word(called.name);
  return {
    // The older `function_call` has no id: its result names the function.
    id: word(call.id) || name,
    name,
    args: isObject(call.custom) ? { input: called.input } : argumentsOf(called.arguments),
    signature: signatureOf(call),
  };
}

/** Gemini requires an object. Other arguments, as models sometimes write, are passed on as text. */
function argumentsOf(value: unknown): Json {
  if (isObject(value)) return value;
  if (typeof value !== 'string' || value.trim() === '') return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : { arguments: value };
  } catch {
    return { arguments: value };
  }
}

/** https://ai.google.dev/api/caching#FunctionCall; only the first call of a step must be signed. */
export function callParts(calls: readonly GeminiCall[], host: Host, model: string): Json[] {
  return calls.map(({ id, name, args, signature }, position) => {
    const signed = signature ?? (position === 0 && isGemini3(model) ? UNSIGNED : undefined);
    return {
      functionCall: { ...(host.hasCallIds && { id }), name, args },
      ...(signed !== undefined && { thoughtSignature: signed }),
    };
  });
}

/**
 * A tool result. The text is passed on under the name that Google proposes for results; other content (images, documents) is inside the
 * response since Gemini 3, and beside it before. https://ai.google.dev/api/caching#FunctionResponse
 */
export function resultParts(message: Json, name: string, host: Host, model: string): Json[] {
  const parts = geminiParts(message.content, host);
  const texts = parts.filter((part) => 'text' in part);
  const media = parts.filter((part) => !('text' in part));
  const isNested = media.length > 0 && isGemini3(model);
  const response = {
    ...(host.hasCallIds && { id: resultId(message) }),
    name,
    response: { output: texts.map(({ text }) => text).join('\n') },
    ...(isNested && { parts: media }),
  };
  return [{ functionResponse: response }, ...(isNested ? [] : media)];
}

/** The subject of a result: the id of a call, or the name of a function in OpenAI's older form. */
export const resultId = (message: Json): string => word(message.tool_call_id) || word(message.name);
