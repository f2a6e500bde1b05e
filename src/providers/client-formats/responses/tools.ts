import type { Json } from '../../endpoint.js';
import { isObject, textOf, wordOf } from '../../endpoints/reading.js';
import { marksOf } from './content.js';
import { CUSTOM_PARAMETERS } from './custom-input.js';
import { hosted, invalidResponsesRequest } from './refusing.js';
import {
  isClientSearch,
  namespaceOf,
  TOOL_SEARCH,
  type ToolList,
  toolListsIn,
  type ToolNames,
} from './tool-names.js';

/**
 * Tools in the hub's format: undefined when there are none, because chat completions refuses an empty list. All of them become functions,
 * wherever the request declares them; those in a namespace have its name before their own. Tools that run at OpenAI throw
 * `parameter_unsupported`. Of two declarations of one tool, the later one holds.
 *
 * OpenAI's default for a function without `strict` is strict here, and not strict in chat completions. It stays unset: a schema that was
 * not written for strict mode would be refused. https://platform.openai.com/docs/guides/migrate-to-responses
 */
export function responsesTools(request: Json, names: ToolNames): readonly Json[] | undefined {
  const tools = new Map<unknown, Json>();
  for (const found of toolListsIn(request))
    for (const tool of toolsIn(found, names)) tools.set((tool.function as Json).name, tool);
  return tools.size > 0 ? [...tools.values()] : undefined;
}

function toolsIn({ tools, where }: ToolList, names: ToolNames): readonly Json[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw invalidResponsesRequest(`"${where}" must be a list`);
  return tools.flatMap((tool: unknown, index) => {
    const place = `${where}[${index}]`;
    if (!isObject(tool) || tool.type !== 'namespace') return [toolOf(tool, { where: place, names })];
    return namespaced(tool, place, names);
  });
}

function namespaced(tool: Json, where: string, names: ToolNames): readonly Json[] {
  const namespace = nameOf(tool, where);
  if (!Array.isArray(tool.tools)) throw invalidResponsesRequest(`"${where}.tools" must be a list`);
  return tool.tools.map((inner: unknown, index) =>
    toolOf(inner, { where: `${where}.tools[${index}]`, names, namespace }),
  );
}

/** Where a tool is declared. */
interface ToolPosition {
  readonly where: string;
  readonly names: ToolNames;
  readonly namespace?: string;
}

function toolOf(tool: unknown, place: ToolPosition): Json {
  const { where, names, namespace } = place;
  if (!isObject(tool)) throw invalidResponsesRequest(`"${where}" must be an object`);
  if (isClientSearch(tool)) return functionOf({ ...tool, name: names.of(TOOL_SEARCH) });
  if (tool.type !== 'function' && tool.type !== 'custom') throw hosted(where, wordOf(tool.type));
  const name = names.of(nameOf(tool, where), namespace);
  if (tool.type === 'function') return functionOf({ ...tool, name });
  return functionOf({ ...tool, name, description: describedInput(tool), parameters: CUSTOM_PARAMETERS });
}

function functionOf(tool: Json): Json {
  const { name, description, parameters, strict } = tool;
  const called = {
    name,
    ...(typeof description === 'string' && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
  };
  return { type: 'function', function: called, ...marksOf(tool) };
}

/** No other provider constrains the input by a grammar, so the model reads it. */
function describedInput({ description, format }: Json): string | undefined {
  const own = typeof description === 'string' ? [description] : [];
  const isGrammar = isObject(format) && format.type === 'grammar';
  const rule = isGrammar
    ? [
        `The argument "input" must match this grammar (${wordOf(format.syntax)}):\n${textOf(format.definition)}`,
      ]
    : [];
  return [...own, ...rule].join('\n\n') || undefined;
}

function nameOf({ name }: Json, where: string): string {
  if (typeof name === 'string') return name;
  throw invalidResponsesRequest(`"${where}.name" must be a string`);
}

const MODES: readonly unknown[] = ['none', 'auto', 'required'];

/** The tool choice in the hub's format. Throws `invalid_request` or `parameter_unsupported`. */
export function toolChoiceOf(choice: unknown, names: ToolNames): string | Json | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (MODES.includes(choice)) return choice as string;
  if (!isObject(choice))
    throw invalidResponsesRequest('"tool_choice" must be none, auto, required or an object');
  return choice.type === 'allowed_tools'
    ? allowedTools(choice, names)
    : chosenTool(choice, 'tool_choice', names);
}

function allowedTools({ mode, tools }: Json, names: ToolNames): Json {
  if (!Array.isArray(tools)) throw invalidResponsesRequest('"tool_choice.tools" must be a list');
  const chosen = tools.map((tool: unknown, index) => chosenTool(tool, `tool_choice.tools[${index}]`, names));
  return {
    type: 'allowed_tools',
    allowed_tools: { mode: mode === 'required' ? mode : 'auto', tools: chosen },
  };
}

function chosenTool(tool: unknown, where: string, names: ToolNames): Json {
  if (!isObject(tool)) throw invalidResponsesRequest(`"${where}" must be an object`);
  if (tool.type !== 'function' && tool.type !== 'custom') throw hosted(where, wordOf(tool.type));
  const name = names.of(nameOf(tool, where), namespaceOf(tool));
  return { type: 'function', function: { name } };
}
