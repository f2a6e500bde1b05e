import type { Json } from '../../endpoint.js';
import { jsonText } from '../../../common/json/deep-json.js';
import { isObject, list, textOf, wordOf } from '../../endpoints/reading.js';
import { responsesContent, hubContentParts } from './content.js';
import { argumentsOfInput } from './custom-input.js';
import { invalidResponsesRequest, unsupportedResponsesParameter } from './refusing.js';
import { unseal } from './sealing.js';
import { namespaceOf, TOOL_SEARCH, type ToolNames } from './tool-names.js';

/** The content of an `input` item: a whole message of the hub, or a piece of an assistant's turn. */
export type ReadItem =
  | { readonly kind: 'message'; readonly message: Json }
  | { readonly kind: 'reasoning'; readonly text: string; readonly blocks: readonly Json[] }
  | { readonly kind: 'said'; readonly parts: readonly Json[] }
  | { readonly kind: 'call'; readonly call: Json }
  /** It says nothing to another provider. */
  | typeof NOTHING;

const NOTHING = { kind: 'nothing' } as const;

type ItemReader = (item: Json, where: string, names: ToolNames) => ReadItem;

const ITEMS: ReadonlyMap<string, ItemReader> = new Map<string, ItemReader>([
  ['message', message],
  ['reasoning', reasoning],
  ['function_call', functionCall],
  ['custom_tool_call', customCall],
  ['function_call_output', callOutput],
  ['custom_tool_call_output', callOutput],
  ['tool_search_call', searchCall],
  ['tool_search_output', searchOutput],
  // Its tools are those of the request (`tool-names.ts`).
  ['additional_tools', () => NOTHING],
  // A search that ran at OpenAI. The text after it has what the search found.
  ['web_search_call', () => NOTHING],
]);

/**
 * Reads an item of `input`. Throws `parameter_unsupported` for items of tools that run at OpenAI, and for references to items that only
 * OpenAI stores. https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
 */
export function readItem(item: unknown, where: string, names: ToolNames): ReadItem {
  if (!isObject(item)) throw invalidResponsesRequest(`"${where}" must be an object`);
  const type = typeOf(item);
  const read = ITEMS.get(type);
  if (read) return read(item, where, names);
  if (type === 'item_reference')
    throw unsupportedResponsesParameter(
      where,
      'items are not kept here, so they cannot be referred to; send the item itself',
    );
  throw unsupportedResponsesParameter(where, `items of the type "${type}" cannot be sent to this provider`);
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
  const parts = hubContentParts(content, `${where}.content`);
  if (role === 'assistant') return { kind: 'said', parts };
  const known = ROLES.get(wordOf(role));
  if (known === undefined)
    throw invalidResponsesRequest(`"${where}.role" must be user, assistant, system or developer`);
  return { kind: 'message', message: { role: known, content: responsesContent(parts) } };
}

function reasoning({ content, summary, encrypted_content }: Json): ReadItem {
  const shownParts = list(content).length > 0 ? content : summary;
  return {
    kind: 'reasoning',
    text: list(shownParts).map(textIn).join('\n\n'),
    blocks: unseal(encrypted_content),
  };
}

const textIn = (part: unknown): string => (isObject(part) ? textOf(part.text) : '');

function functionCall(item: Json, where: string, names: ToolNames): ReadItem {
  const call = { name: calledName(item, where, names), arguments: required(item, 'arguments', where) };
  const own = isObject(item.extra_content) ? { extra_content: item.extra_content } : {};
  const id = required(item, 'call_id', where);
  return { kind: 'call', call: { id, type: 'function', function: call, ...own } };
}

/** The input of a custom tool is the argument of the function that stands for it. */
function customCall(item: Json, where: string, names: ToolNames): ReadItem {
  const input = argumentsOfInput(required(item, 'input', where));
  const call = { name: calledName(item, where, names), arguments: input };
  return { kind: 'call', call: { id: required(item, 'call_id', where), type: 'function', function: call } };
}

/** A search that ran at OpenAI has no call id. */
function searchCall(
  { call_id: id, arguments: searchInput }: Json,
  _where: string,
  names: ToolNames,
): ReadItem {
  if (typeof id !== 'string') return NOTHING;
  const call = { name: names.of(TOOL_SEARCH), arguments: jsonText(isObject(searchInput) ? searchInput : {}) };
  return { kind: 'call', call: { id, type: 'function', function: call } };
}

/** The tools that were found are declared like all others; the model reads their names. */
function searchOutput({ call_id: id, tools }: Json, _where: string, names: ToolNames): ReadItem {
  if (typeof id !== 'string') return NOTHING;
  const found = list(tools)
    .filter(isObject)
    .flatMap((tool) => hubNamesOf(tool, names));
  const content = found.length > 0 ? `Available now: ${found.join(', ')}` : 'No tools found.';
  return { kind: 'message', message: { role: 'tool', tool_call_id: id, content } };
}

function hubNamesOf({ type, name, tools }: Json, names: ToolNames): readonly string[] {
  if (type !== 'namespace') return [names.of(wordOf(name))];
  return list(tools)
    .filter(isObject)
    .map((tool) => names.of(wordOf(tool.name), wordOf(name)));
}

/** The name as in the hub's tools. */
const calledName = (item: Json, where: string, names: ToolNames): string =>
  names.of(required(item, 'name', where), namespaceOf(item));

function callOutput(item: Json, where: string): ReadItem {
  const content = responsesContent(hubContentParts(item.output, `${where}.output`));
  return {
    kind: 'message',
    message: { role: 'tool', tool_call_id: required(item, 'call_id', where), content },
  };
}

function required(item: Json, name: string, where: string): string {
  const value = item[name];
  if (typeof value !== 'string') throw invalidResponsesRequest(`"${where}.${name}" must be a string`);
  return value;
}
