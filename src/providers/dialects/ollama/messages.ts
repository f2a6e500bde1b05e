import type { Json } from '../../endpoint.js';
import { isObject, list, textOf } from '../../endpoints/reading.js';
import { invalidRequest, unsupportedParameter } from '../refusing.js';

/** The hub's turns: texts, images beside them, calls whose arguments are objects. https://docs.ollama.com/api/chat */
export function ollamaMessages(messages: unknown): readonly Json[] {
  const turns = list(messages);
  const names = namesOfCalls(turns);
  return turns.map((turn) => messageOf(isObject(turn) ? turn : {}, names));
}

function messageOf(turn: Json, names: ReadonlyMap<unknown, unknown>): Json {
  const { role, content } = turn;
  const message = { content: spoken(content) };
  if (role === 'developer') return { role: 'system', ...message };
  if (role === 'tool') return { role, ...message, tool_name: names.get(turn.tool_call_id) ?? turn.name };
  const images = list(content).filter(isObject).flatMap(imageOf);
  return {
    role,
    ...message,
    ...(images.length > 0 ? { images } : {}),
    ...(role === 'assistant' ? assistant(turn) : {}),
  };
}

function assistant({ reasoning_content: reasoning, tool_calls: calls }: Json): Json {
  const thinking = textOf(reasoning);
  const called = list(calls).map(callOf);
  return {
    ...(thinking === '' ? {} : { thinking }),
    ...(called.length > 0 ? { tool_calls: called } : {}),
  };
}

/** Results are matched by the name of the tool: Ollama has no ids. */
function namesOfCalls(turns: readonly unknown[]): ReadonlyMap<unknown, unknown> {
  const calls = turns.filter(isObject).flatMap(({ tool_calls: called }) => list(called).filter(isObject));
  return new Map(calls.map(({ id, function: called }) => [id, isObject(called) ? called.name : undefined]));
}

function callOf(call: unknown): Json {
  if (!isObject(call) || !isObject(call.function))
    throw unsupportedParameter('messages[].tool_calls', 'Ollama supports only functions');
  const { name, arguments: given } = call.function;
  return { function: { name, arguments: argumentsOf(given) } };
}

function argumentsOf(given: unknown): Json {
  try {
    const value: unknown = JSON.parse(typeof given === 'string' && given !== '' ? given : '{}');
    if (isObject(value)) return value;
  } catch {
    // Throws the error below.
  }
  throw invalidRequest('The arguments of a tool call must be a JSON object.');
}

const READ: ReadonlySet<unknown> = new Set(['text', 'refusal', 'image_url', 'thinking', 'redacted_thinking']);

function spoken(content: unknown): string {
  const parts = list(content).filter(isObject);
  const unknown = parts.find(({ type }) => !READ.has(type));
  if (unknown) throw unsupportedParameter('messages[].content', 'Ollama accepts text and images');
  return textOf(
    Array.isArray(content) ? parts.filter(({ type }) => type === 'text' || type === 'refusal') : content,
  );
}

const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+;base64,/;

function imageOf({ type, image_url: image }: Json): readonly string[] {
  if (type !== 'image_url') return [];
  const url = isObject(image) ? image.url : null;
  if (typeof url === 'string' && DATA_URL.test(url)) return [url.replace(DATA_URL, '')];
  throw unsupportedParameter('messages[].content[].image_url', 'Ollama accepts images as data URLs');
}
