import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import { unsupportedParameter } from '../refusing.js';

/**
 * Tools, and which of them may be called. Cohere has no parameter for the tool to call, so a chosen tool is sent as the only one. `strict`
 * applies to all tools or none. Throws `parameter_unsupported`. https://docs.cohere.com/reference/chat,
 * https://docs.cohere.com/v2/docs/parameter-types-in-tool-use
 */
export function toolParameters({ tools, tool_choice, strict_tools }: Json): Json {
  const all = list(tools).map(functionTool);
  if (all.length === 0) return {};
  const chosen = chosenNames(tool_choice);
  const offered = chosen ? all.filter(({ name }) => chosen.has(name)) : all;
  const mode = modeOf(tool_choice);
  const isStrict = strict_tools ?? offered.some(({ isStrict }) => isStrict);
  return {
    tools: offered.map(({ tool }) => tool),
    ...(isStrict === true && { strict_tools: true }),
    ...(mode !== null && { tool_choice: mode }),
  };
}

interface OfferedTool {
  readonly name: unknown;
  readonly isStrict: boolean;
  readonly tool: Json;
}

function functionTool(tool: unknown): OfferedTool {
  if (!isObject(tool) || !isObject(tool.function))
    throw unsupportedParameter('tools', 'Cohere supports only functions');
  const { name, description, parameters, strict } = tool.function;
  const known = {
    name,
    ...(typeof description === 'string' && { description }),
    // Cohere requires them.
    parameters: isObject(parameters) ? parameters : { type: 'object', properties: {} },
  };
  return { name, isStrict: strict === true, tool: { type: 'function', function: known } };
}

function modeOf(choice: unknown): 'REQUIRED' | 'NONE' | null {
  if (choice === 'none') return 'NONE';
  if (choice === 'required') return 'REQUIRED';
  if (!isObject(choice)) return null;
  if (choice.type !== 'allowed_tools') return 'REQUIRED';
  return isObject(choice.allowed_tools) && choice.allowed_tools.mode === 'required' ? 'REQUIRED' : null;
}

/** Names of the tools that may be called; null for all. */
function chosenNames(choice: unknown): ReadonlySet<unknown> | null {
  if (!isObject(choice)) return null;
  const allowed = isObject(choice.allowed_tools) ? list(choice.allowed_tools.tools) : [choice];
  return new Set(allowed.map(nameOf));
}

function nameOf(tool: unknown): unknown {
  if (isObject(tool) && isObject(tool.function)) return tool.function.name;
  throw unsupportedParameter('tool_choice', 'Cohere supports only functions');
}
