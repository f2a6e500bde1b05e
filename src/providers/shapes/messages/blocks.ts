import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';

/** What some models write as the arguments of a tool that takes none. */
export const NO_ARGUMENTS = 'null';

/** Arguments as the object that `input` must be. What is no JSON object is kept under a name of its own. */
export function inputOf(given: unknown): Json {
  if (typeof given !== 'string' || given.trim() === '' || given.trim() === NO_ARGUMENTS) return {};
  try {
    const value: unknown = JSON.parse(given);
    return isObject(value) ? value : { INVALID_JSON: given };
  } catch {
    return { INVALID_JSON: given };
  }
}

/** A call of a tool, before its input; null for what is no call of a function. */
export function toolUse(call: unknown, input: Json): Json | null {
  if (!isObject(call) || typeof call.id !== 'string' || !isObject(call.function)) return null;
  const { name } = call.function;
  if (typeof name !== 'string') return null;
  // What a provider attaches to a call must come back with it, and clients send blocks back as they got them.
  const extra = isObject(call.extra_content) ? { extra_content: call.extra_content } : {};
  return { type: 'tool_use', id: call.id, caller: { type: 'direct' }, name, input, ...extra };
}

/** The hub's `url_citation`s as Anthropic's citations of web pages. */
export function citationsOf(annotations: unknown): Json[] {
  return list(annotations).flatMap((annotation) => {
    const cited = isObject(annotation) ? annotation.url_citation : null;
    if (!isObject(cited) || typeof cited.url !== 'string') return [];
    const title = typeof cited.title === 'string' ? cited.title : null;
    return [
      { type: 'web_search_result_location', url: cited.url, title, cited_text: '', encrypted_index: '' },
    ];
  });
}
