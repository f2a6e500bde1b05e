import type { Json, UsageReader } from '../endpoint.js';
import { isObject, list, plainTextIn, stringify, textOf, textOrNull } from './reading.js';
import { openaiUsage } from './openai-usage.js';

/** Reads OpenAI's chat responses, stream chunks and requests. https://platform.openai.com/docs/api-reference/chat */
export const chatCompletionsUsage: UsageReader = {
  fromAnswer(answer) {
    return openaiUsage(answer.usage) ?? fromGroq(answer.x_groq);
  },

  // Azure's first event reports its content filter, with an empty model.
  // https://learn.microsoft.com/en-us/azure/ai-services/openai/concepts/content-filter
  modelOf: ({ model }) => textOrNull(model),

  /** https://platform.openai.com/docs/api-reference/chat/object#chat-object-service_tier */
  tierOf: ({ service_tier }) => textOrNull(service_tier),

  outputText(answer) {
    let text = '';
    for (const choice of list(answer.choices)) {
      // Perplexity's chunks repeat the response so far as a message.
      if (isObject(choice)) text += messageText(choice.delta ?? choice.message);
    }
    return text;
  },

  passingText: (json) => plainTextIn(json, '"delta":{"content":"', '"}'),

  inputText(request) {
    let text = '';
    for (const message of list(request.messages)) text += messageText(message) + '\n';
    return text + definitions(request.tools) + definitions(request.functions);
  },
};

/** Groq puts the usage of a stream into its last chunk as `x_groq.usage`. https://console.groq.com/docs/api-reference */
const fromGroq = (extension: unknown) => (isObject(extension) ? openaiUsage(extension.usage) : null);

/** All texts of a message: content, refusal, reasoning, and tool calls with their arguments. */
function messageText(message: unknown): string {
  if (!isObject(message)) return '';
  const { content, refusal, reasoning_content, reasoning, tool_calls, function_call } = message;
  // Some providers send the same reasoning under both names, for clients of either.
  let text = textOf(content) + textOf(refusal) + textOf(reasoning_content ?? reasoning);
  for (const call of list(tool_calls)) if (isObject(call)) text += callText(call);
  if (function_call !== undefined) text += functionText(function_call);
  return text;
}

function callText(call: Json): string {
  return functionText(call.function ?? call.custom);
}

function functionText(called: unknown): string {
  if (!isObject(called)) return '';
  return textOf(called.name) + textOf(called.arguments ?? called.input);
}

const definitions = (value: unknown): string => (Array.isArray(value) ? stringify(value) : '');
