import type { Usage } from '../../common/contracts/usage.js';
import type { Json, UsageReader } from '../endpoint.js';
import { checkedUsage, type FinerCounts, latest } from './checked-usage.js';
import {
  count,
  countOfModality,
  isObject,
  list,
  objectOf,
  stringify,
  textOf,
  textOrNull,
} from './reading.js';

/**
 * Reads Google's own chat format.
 *
 * `promptTokenCount` includes cached tokens. Counted separately are `toolUsePromptTokenCount`, the input that tools added, and
 * `thoughtsTokenCount`: the total is the sum of the prompt, these two and `candidatesTokenCount`. Events of a stream report the counts so
 * far, of which the last is right (https://github.com/googleapis/python-genai/issues/1204); Google omits zeros. A response to
 * `:countTokens` has no usage and costs nothing. https://ai.google.dev/api/generate-content#UsageMetadata
 * https://googleapis.github.io/js-genai/release_docs/classes/types.GenerateContentResponseUsageMetadata.html
 */
export const generateContentUsage: UsageReader = {
  fromAnswer: (answer, known) => usageOf(answer.usageMetadata, known ?? null),

  modelOf: ({ modelVersion }) => textOrNull(modelVersion),

  /**
   * AI Studio's tier, or the traffic type that Vertex AI billed.
   * https://googleapis.github.io/kotlin-genai/google-genai-kotlin/com.google.genai.kotlin.types/-usage-metadata/service-tier.html
   * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/flex-paygo
   */
  tierOf({ usageMetadata }) {
    const { serviceTier, trafficType } = objectOf(usageMetadata);
    return textOrNull(serviceTier ?? trafficType);
  },

  outputText(answer) {
    let text = '';
    for (const candidate of list(answer.candidates)) text += contentText(objectOf(candidate).content);
    return text;
  },

  marksBeginning: (_, { output_tokens }) => output_tokens === 0,

  inputText(request) {
    let text = contentText(request.systemInstruction ?? request.system_instruction);
    const contents = Array.isArray(request.contents) ? list(request.contents) : [request.contents];
    for (const content of contents) text += contentText(content) + '\n';
    return text + (Array.isArray(request.tools) ? stringify(request.tools) : '');
  },
};

function usageOf(raw: unknown, known: Usage | null): Usage | null {
  if (!isObject(raw)) return null;
  const reasoning = latest(raw.thoughtsTokenCount, known?.reasoning_tokens) ?? 0;
  const spoken = latest(spokenIn(raw, reasoning), known ? spokenOf(known) : undefined);
  return checkedUsage(inputOf(raw, known), spoken === null ? null : spoken + reasoning, {
    cached_input_tokens: latest(raw.cachedContentTokenCount, known?.cached_input_tokens),
    reasoning_tokens: reasoning,
    ...latestOf(modalities(raw), known),
  });
}

/** A stream may begin with events without a prompt count; a response without one has no usage. */
function inputOf(raw: Json, known: Usage | null): number | null {
  const prompt = count(raw.promptTokenCount);
  if (!prompt) return known?.input_tokens ?? null;
  return prompt + (count(raw.toolUsePromptTokenCount) ?? 0);
}

/**
 * Output tokens without thoughts. If the total shows that the candidates include the thoughts, they are subtracted, so that they are not
 * counted twice.
 */
function spokenIn(raw: Json, reasoning: number): unknown {
  const candidates = count(raw.candidatesTokenCount ?? 0);
  if (candidates === null || reasoning === 0 || reasoning > candidates) return candidates;
  const input = inputOf(raw, null);
  return input !== null && raw.totalTokenCount === input + candidates ? candidates - reasoning : candidates;
}

const spokenOf = ({ output_tokens, reasoning_tokens = 0 }: Usage): number => output_tokens - reasoning_tokens;

/** Audio, images and video. https://ai.google.dev/api/generate-content#ModalityTokenCount */
export function modalities({
  promptTokensDetails,
  toolUsePromptTokensDetails,
  cacheTokensDetails,
  candidatesTokensDetails,
}: Json) {
  const input = (modality: string): number =>
    countOfModality(promptTokensDetails, modality) + countOfModality(toolUsePromptTokensDetails, modality);
  return {
    audio_input_tokens: input('AUDIO'),
    image_input_tokens: input('IMAGE'),
    video_input_tokens: input('VIDEO'),
    cached_audio_input_tokens: countOfModality(cacheTokensDetails, 'AUDIO'),
    cached_image_input_tokens: countOfModality(cacheTokensDetails, 'IMAGE'),
    audio_output_tokens: countOfModality(candidatesTokensDetails, 'AUDIO'),
    image_output_tokens: countOfModality(candidatesTokensDetails, 'IMAGE'),
    video_output_tokens: countOfModality(candidatesTokensDetails, 'VIDEO'),
  };
}

type Modalities = ReturnType<typeof modalities>;

function latestOf(reported: Modalities, known: Usage | null): FinerCounts {
  const kinds = Object.keys(reported) as (keyof Modalities)[];
  return Object.fromEntries(kinds.map((kind) => [kind, latest(reported[kind], known?.[kind])]));
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  let text = '';
  for (const part of list(objectOf(content).parts)) if (isObject(part)) text += partText(part);
  return text;
}

function partText({ text, functionCall, functionResponse, executableCode }: Json): string {
  const { name, args } = objectOf(functionCall);
  const { response } = objectOf(functionResponse);
  return (
    textOf(text) +
    textOf(name) +
    (isObject(args) ? stringify(args) : '') +
    (isObject(response) ? stringify(response) : '') +
    textOf(objectOf(executableCode).code)
  );
}
