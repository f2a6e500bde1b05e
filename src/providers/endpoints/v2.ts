import type { Json, UsageReader } from '../endpoint.js';
import { checkedUsage } from './checked-usage.js';
import { count, isObject, list, objectOf, stringify, textOf } from './reading.js';

/** Tokens of a response. */
type Pair = readonly [input: number, output: number];

/**
 * The tokens that Cohere bills. It adds tokens of its own around them and reports both counts, but charges only these. `tokens` counts if
 * nothing was billed. Null when neither is valid. https://docs.cohere.com/docs/how-does-cohere-pricing-work
 */
export function billedTokens({ billed_units: billed, tokens }: Json): Pair | null {
  return pairOf(billed) ?? pairOf(tokens);
}

function pairOf(counts: unknown): Pair | null {
  const { input_tokens, output_tokens } = objectOf(counts);
  const input = count(input_tokens);
  const output = count(output_tokens);
  return input === null || output === null ? null : [input, output];
}

/**
 * Reads version 2 of Cohere's chat, plain and streamed. In a stream, `message-end` has the usage. https://docs.cohere.com/reference/chat
 * and https://docs.cohere.com/reference/chat-stream
 */
export const chatV2Usage: UsageReader = {
  fromAnswer({ usage, delta }) {
    const reported = objectOf(usage ?? objectOf(delta).usage);
    const [input, output] = billedTokens(reported) ?? [null, null];
    return checkedUsage(input, output, { cached_input_tokens: count(reported.cached_tokens) });
  },
  modelOf: () => null,
  outputText: ({ message, delta }) => messageText(objectOf(message ?? objectOf(delta).message)),
  inputText({ messages, documents, tools }) {
    let text = '';
    for (const message of list(messages)) if (isObject(message)) text += messageText(message) + '\n';
    for (const given of [documents, tools]) if (Array.isArray(given)) text += stringify(given);
    return text;
  },
};

/** A whole message, or an event's addition to one, whose parts are not lists. */
function messageText({ content, tool_plan: plan, tool_calls: calls }: Json): string {
  let text = textOf(isObject(content) ? [content] : content) + textOf(plan);
  for (const call of isObject(calls) ? [calls] : list(calls))
    text += textOf(objectOf(objectOf(call).function).arguments);
  return text;
}

/**
 * It has no output tokens; those of images are reported beside those of texts. https://docs.cohere.com/reference/embed
 * https://github.com/cohere-ai/cohere-typescript/blob/main/src/api/types/ApiMetaBilledUnits.ts
 */
export const embedV2Usage: UsageReader = {
  fromAnswer({ meta }) {
    const billed = objectOf(objectOf(meta).billed_units);
    const [texts, images] = [count(billed.input_tokens), count(billed.image_tokens)];
    const input = texts === null && images === null ? null : (texts ?? 0) + (images ?? 0);
    return checkedUsage(input, 0, { image_input_tokens: images });
  },
  modelOf: () => null,
  outputText: () => '',
  inputText: ({ texts, inputs }) => textOf(texts) + textOf(inputs),
};
