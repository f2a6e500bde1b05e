import { bearer } from '../auth-scheme.js';
import { openai } from '../dialects/openai.js';
import type { Provider } from '../provider.js';

/** Providers that speak OpenAI's shape. To add one, add a row; a row may override what it does not share. */
export const openAiCompatible: readonly Provider[] = [
  compatible({
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    accountHeaders: [
      { field: 'openai-organization', header: 'openai-organization' },
      { field: 'openai-project', header: 'openai-project' },
      { field: 'openai-beta', header: 'openai-beta' },
    ],
    source: 'https://github.com/openai/openai-node/blob/master/src/client.ts',
    unverified:
      "Base URL and account headers are those of OpenAI's own client; the page of its API reference was not read.",
  }),
  compatible({
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    source: 'https://console.groq.com/docs/openai',
  }),
  compatible({
    id: 'together-ai',
    name: 'Together AI',
    // Older guides name api.together.xyz; the provider's own page has moved to this host.
    baseUrl: 'https://api.together.ai/v1',
    pricesId: 'together',
    source: 'https://docs.together.ai/docs/inference/openai-compatibility',
  }),
  compatible({
    id: 'deepinfra',
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    pricesId: null,
    source: 'https://deepinfra.com/docs/advanced/openai_api',
  }),
  compatible({
    id: 'mistral-ai',
    name: 'Mistral AI',
    baseUrl: 'https://api.mistral.ai/v1',
    pricesId: 'mistral',
    source: 'https://docs.mistral.ai/api',
  }),
  compatible({
    id: 'deepseek',
    name: 'DeepSeek',
    // The documented paths have no version part; api.deepseek.com/v1 was a synonym that the page no longer names.
    baseUrl: 'https://api.deepseek.com',
    source: 'https://api-docs.deepseek.com/',
  }),
  compatible({
    id: 'x-ai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    source: 'https://docs.x.ai/api/integrations',
  }),
  compatible({
    id: 'fireworks-ai',
    name: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    pricesId: 'fireworks',
    source: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
    unverified: 'Files and fine-tuning live under another base URL, which this row does not reach.',
  }),
  compatible({
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    source: 'https://openrouter.ai/docs',
  }),
  compatible({
    id: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    source: 'https://inference-docs.cerebras.ai/resources/openai',
  }),
];

function compatible(
  row: Omit<Provider, 'dialect' | 'auth' | 'endpoints'> & Partial<Pick<Provider, 'endpoints'>>,
): Provider {
  return { dialect: openai, auth: bearer, endpoints: ['chat-completions'], ...row };
}
