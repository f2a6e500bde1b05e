import type { Json } from '../endpoint.js';
import { chatCompletionsUsage } from '../endpoints/chat-completions.js';
import { count, isObject, list, stringify, textOf } from '../endpoints/reading.js';
import { sampleOf } from './sample.js';
import type { FinishReason, WireToolCall, WireUsage } from './wire.js';

/** The sandbox's reply to a request, before it is formatted as a response or a stream. */
export interface SandboxReply {
  readonly choices: number;
  /** The content in pieces: each is one word with the white space before it. */
  readonly pieces: readonly string[];
  readonly toolCall: WireToolCall | null;
  readonly finishReason: FinishReason;
  readonly usage: WireUsage;
}

/** Maximum of the user's message that is repeated, so that a long prompt does not cause a long response. */
const MAX_QUOTED_CHARACTERS = 400;
/** Longer samples of a schema are replaced by an empty object, so that a default value cannot be multiplied. */
const MAX_SAMPLE_CHARACTERS = 16_384;
/** OpenAI's own limits of the number of tools in a request, and of the length of their names. */
const MAX_TOOLS = 128;
const MAX_TOOL_NAME_CHARACTERS = 64;
/** How much of the user's message is searched for the name of a tool. */
const MAX_SEARCHED_CHARACTERS = 4096;

/**
 * Decides the reply. A token of the sandbox is a word: a run of characters without white space. `max_tokens` cuts the content as at a real
 * provider; sampling parameters have no effect.
 */
export function replyTo(request: Json): SandboxReply {
  const choices = count(request.n) || 1;
  const called = toolToCall(request);
  const words = called ? [] : piecesOf(contentFor(request));
  const limit = count(request.max_completion_tokens) ?? count(request.max_tokens) ?? words.length;
  const pieces = words.slice(0, limit);
  const toolCall = called && toolCallOf(called);
  return {
    choices,
    pieces,
    toolCall,
    finishReason: toolCall ? 'tool_calls' : pieces.length < words.length ? 'length' : 'stop',
    usage: usageOf(request, choices * (toolCall ? wordsIn(toolCall.function.arguments) + 1 : pieces.length)),
  };
}

function usageOf(request: Json, completion: number): WireUsage {
  const prompt = wordsIn(chatCompletionsUsage.inputText(request));
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function contentFor(request: Json): string {
  const format = isObject(request.response_format) ? request.response_format : {};
  if (format.type === 'json_schema') {
    return sampleText(isObject(format.json_schema) ? format.json_schema.schema : undefined);
  }
  const sentence = sentenceFor(request);
  return format.type === 'json_object' ? stringify({ answer: sentence }) : sentence;
}

function sentenceFor(request: Json): string {
  const last = list(request.messages).at(-1);
  if (isObject(last) && last.role === 'tool') return `The tool answered: ${quoted(textOf(last.content))}`;
  const question = lastUserText(request);
  return question ? `You said: ${quoted(question)}` : 'This is the sandbox. It repeats what you say.';
}

function quoted(text: string): string {
  const characters = Array.from(text.slice(0, MAX_QUOTED_CHARACTERS * 2));
  if (characters.length <= MAX_QUOTED_CHARACTERS && text.length <= MAX_QUOTED_CHARACTERS * 2) return text;
  return `${characters.slice(0, MAX_QUOTED_CHARACTERS).join('')}…`;
}

function lastUserText(request: Json): string {
  const last = list(request.messages).findLast((message) => isObject(message) && message.role === 'user');
  return isObject(last) ? textOf(last.content) : '';
}

interface SandboxTool {
  readonly name: string;
  readonly parameters: unknown;
}

/** The tool that the request forces, or whose name the last message (the user's) mentions. */
function toolToCall(request: Json): SandboxTool | null {
  const tools = list(request.tools).slice(0, MAX_TOOLS).flatMap(toolOf);
  const choice = request.tool_choice;
  if (choice === 'none') return null;
  if (choice === 'required') return tools[0] ?? null;
  if (isObject(choice) && isObject(choice.function)) {
    const { name } = choice.function;
    return tools.find((tool) => tool.name === name) ?? null;
  }
  const last = list(request.messages).at(-1);
  const lastText = isObject(last) && last.role === 'user' ? textOf(last.content) : '';
  const question = lastText.slice(0, MAX_SEARCHED_CHARACTERS);
  return tools.find((tool) => question.includes(tool.name)) ?? null;
}

function toolOf(tool: unknown): readonly SandboxTool[] {
  if (!isObject(tool) || !isObject(tool.function)) return [];
  const { name, parameters } = tool.function;
  if (typeof name !== 'string' || name === '' || name.length > MAX_TOOL_NAME_CHARACTERS) return [];
  return [{ name, parameters }];
}

function toolCallOf({ name, parameters }: SandboxTool): WireToolCall {
  return { id: 'call_sandbox_1', type: 'function', function: { name, arguments: sampleText(parameters) } };
}

/** The arguments of a tool and a JSON response are objects, whatever the schema. */
function sampleText(schema: unknown): string {
  const sample = sampleOf(schema);
  const text = isObject(sample) ? stringify(sample) : '';
  return text === '' || text.length > MAX_SAMPLE_CHARACTERS ? '{}' : text;
}

/** Splits a text before the white space of each word, so that the joined pieces are the text. */
const piecesOf = (text: string): readonly string[] => text.split(/(?<=\S)(?=\s)/);

/** Counts without building a list: a prompt may have megabytes. */
function wordsIn(text: string): number {
  let words = 0;
  let inside = false;
  for (let index = 0; index < text.length; index++) {
    const blank = text.charCodeAt(index) <= 32;
    if (!blank && !inside) words++;
    inside = !blank;
  }
  return words;
}
