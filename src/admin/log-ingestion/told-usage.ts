import type { Usage } from '../../common/contracts/request-log.js';
import { hubUsage as anthropicUsage } from '../../providers/dialects/anthropic/usage.js';
import { usage as geminiUsage } from '../../providers/dialects/gemini/usage.js';
import { usageOf } from '../../providers/endpoints/openai-usage.js';

type Body = Readonly<Record<string, unknown>>;

/** The usage that an answer's body tells, in the words of OpenAI, Anthropic or Google; null where it tells none. */
export function usageIn({ usage, usageMetadata }: Body): Usage | null {
  return usageOf(usage) ?? usageOf(anthropicUsage(usage)) ?? usageOf(geminiUsage(usageMetadata));
}

/** Providers by the hosts that a URL may name. */
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
