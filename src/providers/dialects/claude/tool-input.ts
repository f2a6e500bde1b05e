import type { Json } from '../../endpoint.js';
import { isObject, stringify } from '../../endpoints/reading.js';

/** Empty arguments. Some models write `null` for a tool without parameters. */
const NOTHING: ReadonlySet<unknown> = new Set([undefined, null, '', 'null']);

/**
 * Arguments of a call as the object that Claude and Converse require. Arguments that are not a JSON object, as models sometimes write, are
 * passed to the model in the form that Anthropic describes
 * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming).
 */
export function toolInput(given: unknown): Json {
  if (NOTHING.has(given)) return {};
  if (isObject(given)) return given;
  const parsed = typeof given === 'string' ? parse(given) : null;
  return parsed ?? { INVALID_JSON: typeof given === 'string' ? given : stringify(given) };
}

function parse(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
