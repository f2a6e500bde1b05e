import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { withBlockCacheControl } from './content.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

/** The tool fields of a request in Anthropic's format. https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools */
export interface Tools {
  readonly tools?: readonly Json[];
  readonly tool_choice?: Json;
}

/** The hub's tools and the choice among them. Anthropic's own tools, such as its web search, are passed on unchanged. */
export function anthropicTools(hub: Json): Tools {
  const choice = choiceOf(hub.tool_choice ?? null);
  const tools = list(hub.tools)
    .map(toolOf)
    .filter(({ name }) => choice.allowed?.has(name) ?? true);
  const isFree = choice.type === null || choice.type === 'auto' || choice.type === 'none';
  if (tools.length === 0) return isFree ? {} : { tool_choice: named(choice) };
  return { tools, ...chosen(choice, hub.parallel_tool_calls === false) };
}

interface AnthropicToolChoice {
  readonly type: string | null;
  readonly name?: string;
  /** Names of the tools that may be used, if not all of them. */
  readonly allowed?: ReadonlySet<unknown>;
}

function chosen(choice: AnthropicToolChoice, isSingle: boolean): Pick<Tools, 'tool_choice'> {
  if (choice.type === null) return isSingle ? { tool_choice: single({ type: 'auto' }) } : {};
  return { tool_choice: isSingle && choice.type !== 'none' ? single(named(choice)) : named(choice) };
}

const single = (choice: Json): Json => ({ ...choice, disable_parallel_tool_use: true });

const named = ({ type, name }: AnthropicToolChoice): Json => (name === undefined ? { type } : { type, name });

/** The hub's modes of choice. */
const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['none', 'none'],
  ['required', 'any'],
]);

function choiceOf(given: unknown): AnthropicToolChoice {
  if (given === null) return { type: null };
  const word = CHOICES.get(given);
  if (word) return { type: word };
  if (!isObject(given)) throw parameterError('tool_choice', 'must be auto, none, required or an object');
  if (given.type === 'function') return { type: 'tool', name: nameOf(given.function) };
  if (given.type === 'allowed_tools') return allowedOf(given.allowed_tools);
  throw unsupportedParameter('tool_choice', 'Anthropic chooses among functions only');
}

/** A choice among some of the tools: Anthropic has no such mode, so only those are sent. */
function allowedOf(given: unknown): AnthropicToolChoice {
  if (!isObject(given)) throw parameterError('tool_choice.allowed_tools', 'must be an object');
  const allowed = new Set(list(given.tools).map((tool) => (isObject(tool) ? nameOf(tool.function) : null)));
  return { type: given.mode === 'required' ? 'any' : 'auto', allowed };
}

function nameOf(given: unknown): string {
  if (!isObject(given) || typeof given.name !== 'string') throw invalidRequest('A function needs a "name".');
  return given.name;
}

function toolOf(tool: unknown): Json {
  if (!isObject(tool)) throw invalidRequest('Each tool must be an object.');
  if (tool.type === 'custom')
    throw unsupportedParameter('tools[].custom', 'Anthropic supports only functions');
  if (tool.type !== 'function') return tool;
  const name = nameOf(tool.function);
  const { description, parameters, strict } = tool.function as Json;
  return withBlockCacheControl(
    {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      input_schema: { type: 'object', ...(isObject(parameters) ? parameters : { properties: {} }) },
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
    tool,
  );
}
