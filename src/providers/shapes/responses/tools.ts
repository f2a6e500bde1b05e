import type { Json } from '../../endpoint.js';
import { isObject, wordOf } from '../../endpoints/reading.js';
import { marksOf } from './content.js';
import { joinedName } from './namespaces.js';
import { invalid, unsupported } from './refusing.js';

/**
 * Tools in the hub's format: undefined when there are none, because chat completions refuses an empty list. Functions and custom tools are
 * passed on, those in a namespace with its name before their own; all others run at OpenAI and throw `parameter_unsupported`.
 *
 * OpenAI's default for a function without `strict` is strict here, and not strict in chat completions. It stays unset: a schema that was
 * not written for strict mode would be refused. https://platform.openai.com/docs/guides/migrate-to-responses
 */
export function toolsOf(tools: unknown): readonly Json[] | undefined {
  if (tools === undefined || tools === null) return undefined;
  if (!Array.isArray(tools)) throw invalid('"tools" must be a list');
  return tools.length === 0
    ? undefined
    : tools.flatMap((tool: unknown, index) => toolsIn(tool, `tools[${index}]`));
}

function toolsIn(tool: unknown, where: string): readonly Json[] {
  if (!isObject(tool) || tool.type !== 'namespace') return [toolOf(tool, where)];
  const namespace = nameOf(tool, where);
  if (!Array.isArray(tool.tools)) throw invalid(`"${where}.tools" must be a list`);
  return tool.tools.map((inner: unknown, index) => {
    const place = `${where}.tools[${index}]`;
    if (!isObject(inner)) throw invalid(`"${place}" must be an object`);
    return toolOf({ ...inner, name: joinedName(namespace, nameOf(inner, place)) }, place);
  });
}

function toolOf(tool: unknown, where: string): Json {
  if (!isObject(tool)) throw invalid(`"${where}" must be an object`);
  if (tool.type === 'function')
    return { type: 'function', function: functionOf(tool, where), ...marksOf(tool) };
  if (tool.type === 'custom') return { type: 'custom', custom: customOf(tool, where) };
  throw unsupported(
    where,
    `the tool "${wordOf(tool.type)}" runs at OpenAI, and this provider does not have it`,
  );
}

function functionOf(tool: Json, where: string): Json {
  const { description, parameters, strict } = tool;
  return {
    name: nameOf(tool, where),
    ...(typeof description === 'string' && { description }),
    ...(isObject(parameters) && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
  };
}

function customOf(tool: Json, where: string): Json {
  const { description, format } = tool;
  return {
    name: nameOf(tool, where),
    ...(typeof description === 'string' && { description }),
    ...(isObject(format) && { format: formatOf(format) }),
  };
}

/** A grammar is one level deeper in chat completions. */
function formatOf(format: Json): Json {
  if (format.type !== 'grammar') return format;
  return { type: 'grammar', grammar: { definition: format.definition, syntax: format.syntax } };
}

function nameOf({ name }: Json, where: string): string {
  if (typeof name === 'string') return name;
  throw invalid(`"${where}.name" must be a string`);
}

const MODES: readonly unknown[] = ['none', 'auto', 'required'];

/** The tool choice in the hub's format. Throws `invalid_request` or `parameter_unsupported`. */
export function toolChoiceOf(choice: unknown): string | Json | undefined {
  if (choice === undefined || choice === null) return undefined;
  if (MODES.includes(choice)) return choice as string;
  if (!isObject(choice)) throw invalid('"tool_choice" must be none, auto, required or an object');
  return choice.type === 'allowed_tools' ? allowedTools(choice) : chosenTool(choice, 'tool_choice');
}

function allowedTools({ mode, tools }: Json): Json {
  if (!Array.isArray(tools)) throw invalid('"tool_choice.tools" must be a list');
  const chosen = tools.map((tool: unknown, index) => chosenTool(tool, `tool_choice.tools[${index}]`));
  return {
    type: 'allowed_tools',
    allowed_tools: { mode: mode === 'required' ? mode : 'auto', tools: chosen },
  };
}

function chosenTool(tool: unknown, where: string): Json {
  if (!isObject(tool)) throw invalid(`"${where}" must be an object`);
  const { type } = tool;
  if (type === 'function') return { type, function: { name: nameOf(tool, where) } };
  if (type === 'custom') return { type, custom: { name: nameOf(tool, where) } };
  throw unsupported(where, `the tool "${wordOf(type)}" runs at OpenAI, and this provider does not have it`);
}
