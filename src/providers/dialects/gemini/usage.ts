import type { Json } from '../../endpoint.js';
import { modalities } from '../../endpoints/generate-content.js';
import { count, isObject, objectOf } from '../../endpoints/reading.js';

/**
 * `usageMetadata` as the hub's `usage`; undefined if the provider reported none. Prompt tokens include cached ones; tokens that tools added
 * to the prompt are counted separately, and so are thoughts. If the total shows that thoughts are already included, they are not added
 * again. https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function usage(metadata: unknown): Json | undefined {
  if (!isObject(metadata)) return undefined;
  const prompt = count(metadata.promptTokenCount);
  if (prompt === null) return undefined;
  const input = prompt + tokens(metadata.toolUsePromptTokenCount);
  const answer = tokens(metadata.candidatesTokenCount);
  const thoughts = tokens(metadata.thoughtsTokenCount);
  const isInside = thoughts <= answer && metadata.totalTokenCount === input + answer;
  const kinds = modalities(metadata);
  const output = isInside ? answer : answer + thoughts;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: tokens(metadata.cachedContentTokenCount),
      audio_tokens: kinds.audio_input_tokens,
      ...nonZero({ image_tokens: kinds.image_input_tokens, video_tokens: kinds.video_input_tokens }),
      ...cachedDetails(kinds.cached_audio_input_tokens, kinds.cached_image_input_tokens),
    },
    completion_tokens_details: {
      reasoning_tokens: thoughts,
      audio_tokens: kinds.audio_output_tokens,
      ...nonZero({ image_tokens: kinds.image_output_tokens, video_tokens: kinds.video_output_tokens }),
    },
  };
}

/** AI Studio's tiers and Vertex AI's traffic types, with OpenAI's names. */
const TIERS: ReadonlyMap<unknown, string> = new Map([
  // https://ai.google.dev/gemini-api/docs/priority-inference
  ['standard', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  // https://docs.cloud.google.com/vertex-ai/generative-ai/docs/flex-paygo
  ['ON_DEMAND', 'default'],
  ['ON_DEMAND_FLEX', 'flex'],
  ['ON_DEMAND_PRIORITY', 'priority'],
]);

/** The hub's `service_tier` of a response; absent for tiers that OpenAI lacks. */
export function geminiServiceTier(metadata: unknown): Json {
  const { serviceTier, trafficType } = objectOf(metadata);
  const tier = TIERS.get(serviceTier ?? trafficType);
  return tier === undefined ? {} : { service_tier: tier };
}

const tokens = (value: unknown): number => count(value) ?? 0;

const nonZero = (counts: Readonly<Record<string, number>>): Json =>
  Object.fromEntries(Object.entries(counts).filter(([, value]) => value > 0));

function cachedDetails(audio: number, image: number): Json {
  const details = nonZero({ audio_tokens: audio, image_tokens: image });
  return Object.keys(details).length === 0 ? {} : { cached_tokens_details: details };
}
