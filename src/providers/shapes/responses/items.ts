import type { Json } from '../../endpoint.js';
import { isObject, list, textOf, wordOf } from '../../endpoints/reading.js';
import { contentOf, partsOf } from './content.js';
import { joinedName } from './namespaces.js';
import { invalid, unsupported } from './refusing.js';
import { unseal } from './sealing.js';

/** The content of an `input` item: a whole message of the hub, or a piece of an assistant's turn. */
export type ReadItem =
  | { readonly kind: 'message'; readonly message: Json }
  | { readonly kind: 'reasoning'; readonly text: string; readonly blocks: readonly Json[] }
  | { readonly kind: 'said'; readonly parts: readonly Json[] }
  | { readonly kind: 'call'; readonly call: Json };

type ItemReader = (item: Json, where: string) => ReadItem;

const ITEMS: ReadonlyMap<string, ItemReader> = new Map<string, ItemReader>([
  ['message', message],
  ['reasoning', reasoning],
  ['function_call', functionCall],
  ['custom_tool_call', customCall],
  ['function_call_output', callOutput],
  ['custom_tool_call_output', callOutput],
]);

/**
 * Reads an item of `input`. Throws `parameter_unsupported` for items of tools that run at OpenAI, and for references to items that only
 * OpenAI stores. https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
 */
export function readItem(item: unknown, where: string): ReadItem {
  if (!isObject(item)) throw invalid(`"${where}" must be an object`);
  const type = typeOf(item);
  const read = ITEMS.get(type);
  if (read) return read(item, where);
  if (type === 'item_reference')
    throw unsupported(where, 'items are not kept here, so they cannot be referred to; send the item itself');
  throw unsupported(where, `items of the type "${type}" cannot be sent to this provider`);
}

/** Messages and references may omit the type. */
function typeOf({ type, role, id }: Json): string {
  if (typeof type === 'string') return type;
  if (typeof role === 'string') return 'message';
  return typeof id === 'string' ? 'item_reference' : '';
}

/** The hub's `system` stands for `developer` too: many providers of chat completions support only the former. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ['user', 'user'],
  ['system', 'system'],
  ['developer', 'system'],
]);

function message({ role, content }: Json, where: string): ReadItem {
  const parts = partsOf(content, `${where}.content`);
  if (role === 'assistant') return { kind: 'said', parts };
  const known = ROLES.get(wordOf(role));
  if (known === undefined) throw invalid(`"${where}.role" must be user, assistant, system or developer`);
  return { kind: 'message', message: { role: known, content: contentOf(parts) } };
}

function reasoning({ content, summary, encrypted_content }: Json): ReadItem {
  const said = list(content).length > 0 ? content : summary;
  return { kind: 'reasoning', text: list(said).map(textIn).join('\n\n'), blocks: unseal(encrypted_content) };
}

const textIn = (part: unknown): string => (isObject(part) ? textOf(part.text) : '');

function functionCall(item: Json, where: string): ReadItem {
  const call = { name: calledName(item, where), arguments: required(item, 'arguments', where) };
  const own = isObject(item.extra_content) ? { extra_content: item.extra_content } : {};
  const id = required(item, 'call_id', where);
  return { kind: 'call', call: { id, type: 'function', function: call, ...own } };
}

function customCall(item: Json, where: string): ReadItem {
  const custom = { name: calledName(item, where), input: required(item, 'input', where) };
  return { kind: 'call', call: { id: required(item, 'call_id', where), type: 'custom', custom } };
}

/** The name as in the request's tools. */
function calledName(item: Json, where: string): string {
  const name = required(item, 'name', where);
  return typeof item.namespace === 'string' ? joinedName(item.namespace, name) : name;
}

function callOutput(item: Json, where: string): ReadItem {
  const content = contentOf(partsOf(item.output, `${where}.output`));
  return {
    kind: 'message',
    message: { role: 'tool', tool_call_id: required(item, 'call_id', where), content },
  };
}

function required(item: Json, name: string, where: string): string {
  const value = item[name];
  if (typeof value !== 'string') throw invalid(`"${where}.${name}" must be a string`);
  return value;
}
