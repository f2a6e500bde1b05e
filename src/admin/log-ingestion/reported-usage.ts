import type { Usage } from '../../common/contracts/usage.js';
import { anthropicUsage } from '../../providers/dialects/anthropic/usage.js';
import { bedrockUsage } from '../../providers/dialects/bedrock/usage.js';
import { chatUsage as cohereUsage } from '../../providers/dialects/cohere/usage.js';
import { usage as geminiUsage } from '../../providers/dialects/gemini/usage.js';
import { embeddingsUsage } from '../../providers/endpoints/embeddings.js';
import { mediaUsage } from '../../providers/endpoints/media.js';
import { openaiUsage } from '../../providers/endpoints/openai-usage.js';
import { isObject, objectOf } from '../../providers/endpoints/reading.js';
import { responsesUsage } from '../../providers/endpoints/responses.js';

type ReportedBody = Readonly<Record<string, unknown>>;

/**
 * The usage in a response body, in the format of OpenAI (chat, responses, images, transcriptions, embeddings), Anthropic, Bedrock, Cohere
 * or Google; null if none can be read completely.
 */
export function usageOfReportedBody(answer: ReportedBody): Usage | null {
  const { usage, usageMetadata } = answer;
  if (isOfResponses(usage)) return responsesUsage.fromAnswer(answer);
  return (
    openaiUsage(usage) ??
    openaiUsage(anthropicUsage(usage)) ??
    openaiUsage(bedrockUsage(usage)) ??
    openaiUsage(cohereUsage(usage)) ??
    openaiUsage(geminiUsage(usageMetadata)) ??
    inputOnlyUsage(answer) ??
    mediaUsage.fromAnswer(answer)
  );
}

/**
 * OpenAI's newer format has `input_tokens` and `output_tokens` like Anthropic's, but includes cached tokens in the input and reports them
 * in details that Anthropic does not send. Without them both interpretations agree.
 */
const isOfResponses = (usage: unknown): boolean =>
  isObject(usage) &&
  ['input_tokens_details', 'input_token_details'].some((name) => isObject(usage[name])) &&
  usage.prompt_tokens === undefined;

/** Embeddings report no output. A response with choices has some, and half of a usage would be charged as if the other half were free. */
function inputOnlyUsage(answer: ReportedBody): Usage | null {
  const { prompt_tokens: input, total_tokens: total, completion_tokens: output } = objectOf(answer.usage);
  const hasOutput = answer.choices !== undefined || output !== undefined;
  const isWhole = input === undefined || total === undefined || input === total;
  return hasOutput || !isWhole ? null : embeddingsUsage.fromAnswer(answer);
}

/** Providers by the host names of URLs. */
const HOSTS: readonly (readonly [ending: string, provider: string])[] = [
  ['api.openai.com', 'openai'],
  ['.openai.azure.com', 'azure-openai'],
  ['api.anthropic.com', 'anthropic'],
  ['generativelanguage.googleapis.com', 'google'],
  ['aiplatform.googleapis.com', 'vertex-ai'],
  ['.amazonaws.com', 'bedrock'],
  ['api.mistral.ai', 'mistral-ai'],
  ['api.cohere.com', 'cohere'],
  ['api.groq.com', 'groq'],
  ['api.together.xyz', 'together-ai'],
  ['api.deepseek.com', 'deepseek'],
];

export function providerOfUrl(text: string): string | null {
  const host = URL.canParse(text) ? new URL(text).hostname : text;
  return HOSTS.find(([ending]) => host.endsWith(ending))?.[1] ?? null;
}
