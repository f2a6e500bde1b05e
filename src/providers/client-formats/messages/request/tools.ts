import { parameterError } from '../../../../common/errors/field-errors.js';
import type { Json } from '../../../endpoint.js';
import { isObject, list, stringify, wordOf } from '../../../endpoints/reading.js';
import { withPartCacheControl } from './parts.js';
import { invalidMessagesRequest, unsupportedMessagesParameter } from './refusals.js';

/**
 * Tools of an Anthropic client as the hub's functions, and the choice among them.
 *
 * Settings of loading definitions and streaming input (`defer_loading`, `eager_input_streaming`) concern only Anthropic's service and are
 * left out. Throws `parameter_unsupported` for tools that Anthropic runs itself or that its models know without a definition.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference
 */
export function messagesTools({ tools: given, tool_choice: choice }: Json): Json {
  const tools = list(given).map(functionOf);
  return { ...(tools.length > 0 ? { tools } : {}), ...choiceOf(choice ?? null) };
}

function functionOf(tool: unknown): Json {
  if (!isObject(tool) || typeof tool.name !== 'string')
    throw invalidMessagesRequest('Each tool needs a "name".');
  const { type, name, strict, input_schema: schema } = tool;
  if ((type ?? 'custom') !== 'custom')
    throw unsupportedMessagesParameter(`tools[].${wordOf(type)}`, 'only Anthropic has this tool');
  const described = {
    name,
    ...descriptionOf(tool),
    ...(isObject(schema) ? { parameters: schema } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
  return withPartCacheControl({ type: 'function', function: described }, tool);
}

/** The hub has no field for examples of a tool's input, so they are appended to its description. */
function descriptionOf({ description, input_examples: examples }: Json): Json {
  const sentences = typeof description === 'string' ? [description] : [];
  const shown = list(examples).map((example) => `Example of its input: ${stringify(example)}`);
  const lines = [...sentences, ...shown];
  return lines.length > 0 ? { description: lines.join('\n') } : {};
}

/** Anthropic's modes of choice. */
const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

function choiceOf(choice: unknown): Json {
  if (choice === null) return {};
  if (!isObject(choice)) throw parameterError('tool_choice', 'must be an object');
  const { type, name, disable_parallel_tool_use: isSingle } = choice;
  const parallel = isSingle === true ? { parallel_tool_calls: false } : {};
  const word = CHOICES.get(type);
  if (word) return { tool_choice: word, ...parallel };
  if (type !== 'tool' || typeof name !== 'string')
    throw invalidMessagesRequest('The type of "tool_choice" must be auto, any, none, or tool with a "name".');
  return { tool_choice: { type: 'function', function: { name } }, ...parallel };
}
