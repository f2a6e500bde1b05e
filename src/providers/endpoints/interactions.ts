import type { Json, UsageReader } from '../endpoint.js';
import { generateContentUsage } from './generate-content.js';
import { isObject, list, objectOf, stringify, textOf, textOrNull } from './reading.js';

/**
 * Reads Google's interactions.
 *
 * Their usage has the counts of `generateContent` under other names. A plain response has `usage` itself. A stream has it in the
 * `interaction` of its last event, `interaction.completed`, and the counts so far in `interaction.status_update` and in the metadata of
 * pieces; the `usage` of `step.stop` is that of one step. https://ai.google.dev/api/interactions-api and
 * https://ai.google.dev/gemini-api/docs/interactions/streaming
 */
export const interactionsUsage: UsageReader = {
  fromAnswer: (answer, known) =>
    generateContentUsage.fromAnswer({ usageMetadata: metadataOf(reportedIn(answer)) }, known),

  modelOf: (answer) => textOrNull(interactionOf(answer).model),

  tierOf: (answer) => textOrNull(interactionOf(answer).service_tier),

  outputText(answer) {
    if (typeof answer.event_type === 'string') return eventText(answer);
    return stepsText(list(answer.steps).filter((step) => objectOf(step).type !== 'user_input'));
  },

  marksBeginning: (_, { output_tokens }) => output_tokens === 0,

  inputText: ({ system_instruction, input, tools }) =>
    textOf(system_instruction) +
    (typeof input === 'string' ? input : stepsText(isObject(input) ? [input] : list(input))) +
    (Array.isArray(tools) ? stringify(tools) : ''),
};

const interactionOf = (answer: Json): Json => (isObject(answer.interaction) ? answer.interaction : answer);

function reportedIn(answer: Json): unknown {
  const { event_type, metadata } = answer;
  if (typeof event_type !== 'string' || event_type.startsWith('interaction.'))
    return interactionOf(answer).usage;
  return objectOf(metadata).total_usage;
}

/** The counts by the names of `generateContent`. */
function metadataOf(usage: unknown): Json | null {
  if (!isObject(usage)) return null;
  return {
    promptTokenCount: usage.total_input_tokens,
    toolUsePromptTokenCount: usage.total_tool_use_tokens,
    cachedContentTokenCount: usage.total_cached_tokens,
    thoughtsTokenCount: usage.total_thought_tokens,
    candidatesTokenCount: usage.total_output_tokens,
    totalTokenCount: usage.total_tokens,
    promptTokensDetails: detailsOf(usage.input_tokens_by_modality),
    toolUsePromptTokensDetails: detailsOf(usage.tool_use_tokens_by_modality),
    cacheTokensDetails: detailsOf(usage.cached_tokens_by_modality),
    candidatesTokensDetails: detailsOf(usage.output_tokens_by_modality),
  };
}

const detailsOf = (modalities: unknown): readonly Json[] =>
  list(modalities)
    .filter(isObject)
    .map(({ modality, tokens }) => ({
      modality: typeof modality === 'string' ? modality.toUpperCase() : null,
      tokenCount: tokens,
    }));

function eventText({ event_type, step, delta }: Json): string {
  if (event_type === 'step.start') return textOf(objectOf(step).name);
  if (event_type !== 'step.delta') return '';
  const { text, content, arguments: pieces } = objectOf(delta);
  return textOf(text) + textOf(objectOf(content).text) + textOf(pieces);
}

/** Steps of a conversation, or parts of one message. */
function stepsText(steps: readonly unknown[]): string {
  let text = '';
  for (const step of steps) if (isObject(step)) text += stepText(step);
  return text;
}

function stepText({ text, content, summary, name, arguments: values, result }: Json): string {
  return (
    textOf(text) +
    textOf(content) +
    textOf(summary) +
    textOf(name) +
    (isObject(values) ? stringify(values) : '') +
    (isObject(result) ? stringify(result) : textOf(result))
  );
}
