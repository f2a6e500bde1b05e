import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import { callParts, geminiCalls, resultId, resultParts } from './calls.js';
import type { Host } from './host.js';
import { geminiParts } from './parts.js';
import { signatureOf } from './signature.js';

interface GeminiContent {
  readonly role: 'user' | 'model';
  readonly parts: Json[];
}

/** A conversation in Gemini's format. https://ai.google.dev/api/caching#Content */
export interface GeminiConversation {
  readonly contents: readonly GeminiContent[];
  /** Absent without instructions. */
  readonly systemInstruction?: Json;
}

const SYSTEM_ROLES: readonly unknown[] = ['system', 'developer'];
const RESULT_ROLES: readonly unknown[] = ['tool', 'function'];

/**
 * The hub's messages as Gemini's contents. Roles alternate: consecutive messages of one side are merged. System and developer turns, at any
 * position, become the instruction; alone, they become the user's content, because Gemini requires one. Throws
 * `AppError('parameter_unsupported')` for content that Gemini does not support.
 */
export function conversation(messages: unknown, host: Host, model: string): GeminiConversation {
  const contents: GeminiContent[] = [];
  const system: Json[] = [];
  const names = new Map<string, string>();
  for (const message of inOrderOfCalls(list(messages).filter(isObject))) {
    if (SYSTEM_ROLES.includes(message.role)) append(system, geminiParts(message.content, host));
    else if (RESULT_ROLES.includes(message.role)) {
      say(contents, 'user', resultParts(message, functionName(message, names), host, model));
    } else if (message.role === 'assistant') say(contents, 'model', spoken(message, names, host, model));
    else say(contents, 'user', geminiParts(message.content, host));
  }
  if (system.length === 0) return { contents };
  if (contents.length === 0) return { contents: [{ role: 'user', parts: system }] };
  return { contents, systemInstruction: { parts: system } };
}

function say(contents: GeminiContent[], role: GeminiContent['role'], parts: readonly Json[]): void {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  if (last?.role === role) append(last.parts, parts);
  else contents.push({ role, parts: [...parts] });
}

/** The content and calls of an assistant's message; notes the names of its calls. */
function spoken(message: Json, names: Map<string, string>, host: Host, model: string): Json[] {
  const calls = geminiCalls(message);
  for (const { id, name } of calls) names.set(id, name);
  const parts = [...geminiParts(message.content, host), ...geminiParts(message.refusal, host)];
  return [...signed(parts, signatureOf(message)), ...callParts(calls, host, model)];
}

/** The signature of a text response is on its last part. */
function signed(parts: Json[], signature: string | undefined): Json[] {
  const last = parts.at(-1);
  if (signature === undefined || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, thoughtSignature: signature }];
}

/** Gemini matches results to calls by the function's name, which OpenAI's results need not contain. */
function functionName(message: Json, names: ReadonlyMap<string, string>): string {
  const id = resultId(message);
  return names.get(id) ?? (typeof message.name === 'string' ? message.name : id);
}

/** In the hub, results may be in any order; without call ids, Gemini matches them by order. */
function inOrderOfCalls(messages: readonly Json[]): readonly Json[] {
  const ordered: Json[] = [];
  let order = new Map<string, number>();
  let results: Json[] = [];
  const positionOf = (message: Json) => order.get(resultId(message)) ?? Number.MAX_SAFE_INTEGER;
  const flush = () => {
    append(
      ordered,
      results.sort((a, b) => positionOf(a) - positionOf(b)),
    );
    results = [];
  };
  for (const message of messages) {
    if (RESULT_ROLES.includes(message.role)) {
      results.push(message);
      continue;
    }
    flush();
    if (message.role === 'assistant')
      order = new Map(geminiCalls(message).map(({ id }, position) => [id, position]));
    ordered.push(message);
  }
  flush();
  return ordered;
}

function append(to: Json[], items: readonly Json[]): void {
  for (const item of items) to.push(item);
}
