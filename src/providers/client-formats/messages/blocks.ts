import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';

/** Some models write this as the arguments of a tool without parameters. */
export const NO_ARGUMENTS = 'null';

/** Arguments as the object that `input` must be. Arguments that are not a JSON object are kept under a field of their own. */
export function inputOf(given: unknown): Json {
  if (typeof given !== 'string' || given.trim() === '' || given.trim() === NO_ARGUMENTS) return {};
  try {
    const value: unknown = JSON.parse(given);
    return isObject(value) ? value : { INVALID_JSON: given };
  } catch {
    return { INVALID_JSON: given };
  }
}

/** A tool call, without its input; null if it is not a function call. */
export function toolUse(call: unknown, input: Json): Json | null {
  if (!isObject(call) || typeof call.id !== 'string' || !isObject(call.function)) return null;
  const { name } = call.function;
  if (typeof name !== 'string') return null;
  // A provider's addition to a call must come back with it, and clients return blocks unchanged.
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
