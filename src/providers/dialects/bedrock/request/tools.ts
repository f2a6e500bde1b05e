import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, list } from '../../../endpoints/reading.js';
import { cachePoint } from './content.js';
import { takesToolChoice } from '../models.js';
import { invalidRequest, unsupportedParameter } from '../../refusing.js';

interface BedrockToolChoice {
  /** Null for no choice at all. */
  readonly choice: Json | null;
  readonly isNone?: true;
  /** Names of the tools that may be used, if not all of them. */
  readonly allowed?: ReadonlySet<unknown>;
}

/** The hub's modes of choice. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html */
const CHOICES: ReadonlyMap<unknown, BedrockToolChoice> = new Map<unknown, BedrockToolChoice>([
  [null, { choice: null }],
  ['auto', { choice: { auto: {} } }],
  ['required', { choice: { any: {} } }],
  ['none', { choice: null, isNone: true }],
]);

/**
 * A placeholder for a conversation with tool calls in which no tool may be called any more: Converse refuses such a conversation without
 * tools (`The toolConfig field must be defined when using toolUse and toolResult content blocks`), and cannot forbid tools that it is sent.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html
 */
const NO_TOOL: Json = {
  toolSpec: {
    name: 'no_tool_available',
    description: 'Never call this. No tool is available any more: answer in words.',
    inputSchema: { json: { type: 'object', properties: {} } },
  },
};

/**
 * The hub's tools, and the choice among them, as `toolConfig`. Bedrock's own tools (`toolSpec`, `systemTool`) are passed on.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html
 */
export function bedrockTools(
  hub: Json,
  messages: readonly Json[],
  model: string,
): { readonly toolConfig?: Json } {
  const { choice, isNone, allowed } = choiceOf(hub.tool_choice ?? null);
  const given = list(hub.tools);
  if (given.length > 0 && hub.parallel_tool_calls === false)
    throw unsupportedParameter('parallel_tool_calls', 'Bedrock cannot limit a turn to one tool call');
  if (given.length === 0 || isNone)
    return messages.some(usesTools) ? { toolConfig: { tools: [NO_TOOL] } } : {};
  const tools = given.flatMap((tool) => toolBlocks(tool, allowed));
  return { toolConfig: { tools, ...choiceFor(model, choice) } };
}

/** A model without tool choice chooses freely. */
function choiceFor(model: string, choice: Json | null): Json {
  if (choice === null || takesToolChoice(model)) return choice === null ? {} : { toolChoice: choice };
  if ('auto' in choice) return {};
  throw unsupportedParameter(
    'tool_choice',
    'this model cannot be forced to call a tool; it supports auto and none',
  );
}

function usesTools({ content }: Json): boolean {
  return list(content).some((block) => isObject(block) && ('toolUse' in block || 'toolResult' in block));
}

function choiceOf(given: unknown): BedrockToolChoice {
  const known = CHOICES.get(given);
  if (known) return known;
  if (!isObject(given)) throw parameterError('tool_choice', 'must be auto, none, required or an object');
  if (given.type === 'function') return { choice: { tool: { name: nameOf(given.function) } } };
  if (given.type === 'allowed_tools') return allowedOf(given.allowed_tools);
  throw unsupportedParameter('tool_choice', 'Bedrock chooses among functions only');
}

/** A choice among some of the tools: Converse has no such mode, so only those are sent. */
function allowedOf(given: unknown): BedrockToolChoice {
  if (!isObject(given)) throw parameterError('tool_choice.allowed_tools', 'must be an object');
  const allowed = new Set(list(given.tools).map((tool) => (isObject(tool) ? nameOf(tool.function) : null)));
  return { choice: given.mode === 'required' ? { any: {} } : { auto: {} }, allowed };
}

function nameOf(given: unknown): string {
  if (!isObject(given) || typeof given.name !== 'string') throw invalidRequest('A function needs a "name".');
  return given.name;
}

function toolBlocks(tool: unknown, allowed: BedrockToolChoice['allowed']): Json[] {
  if (!isObject(tool)) throw invalidRequest('Each tool must be an object.');
  if ('toolSpec' in tool || 'systemTool' in tool) return [tool];
  if (tool.type !== 'function') throw unsupportedParameter('tools[].type', 'Bedrock supports only functions');
  const name = nameOf(tool.function);
  if (allowed && !allowed.has(name)) return [];
  return [{ toolSpec: { name, ...specOf(tool.function as Json) } }, ...cachePoint(tool)];
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html */
function specOf({ description, parameters, strict }: Json): Json {
  const schema = isObject(parameters) ? parameters : { properties: {} };
  return {
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    inputSchema: { json: { type: 'object', ...schema } },
    ...(strict === true ? { strict } : {}),
  };
}
