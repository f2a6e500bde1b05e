import type { UsageReader } from '../endpoint.js';
import { isObject, list, textOf, textOrNull } from './reading.js';
import { openaiUsage } from './openai-usage.js';

/**
 * Reads OpenAI's older completions, with text in `choices[].text` and the same usage as chat. A prompt may be a text, a list of texts, or
 * tokens, which contain no text to count. https://github.com/openai/openai-node/blob/master/src/resources/completions.ts
 */
export const completionsUsage: UsageReader = {
  fromAnswer: (answer) => openaiUsage(answer.usage),

  modelOf: ({ model }) => textOrNull(model),

  outputText(answer) {
    let text = '';
    for (const choice of list(answer.choices)) if (isObject(choice)) text += textOf(choice.text);
    return text;
  },

  inputText: ({ prompt, suffix }) => textOf(prompt) + textOf(suffix),
};
