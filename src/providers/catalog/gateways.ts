import { inHeader } from '../auth-scheme.js';
import { huggingFace } from '../dialects/huggingface/index.js';
import type { Provider } from '../provider.js';
import { compatible } from './compatible.js';

/** Providers that forward requests to others. */
export const gateways: readonly Provider[] = [
  compatible({
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    hostPath: '/v1',
    endpoints: ['chat-completions', 'completions', 'responses', 'messages', 'embeddings', 'models'],
    // https://openrouter.ai/docs/use-cases/usage-accounting
    streamUsage: { reported: 'always' },
    source: 'https://openrouter.ai/docs',
  }),
  compatible({
    id: 'huggingface',
    name: 'Hugging Face Inference Providers',
    // A dedicated endpoint has an address of its own, which needs a custom host.
    baseUrl: 'https://router.huggingface.co/v1',
    dialect: huggingFace,
    // Responses: https://huggingface.co/docs/inference-providers/guides/responses-api
    endpoints: ['chat-completions', 'responses', 'models'],
    pricesId: null,
    source: 'https://huggingface.co/docs/inference-providers',
  }),
  compatible({
    id: 'portkey',
    name: 'Portkey',
    baseUrl: 'https://api.portkey.ai/v1',
    auth: inHeader('x-portkey-api-key'),
    // Its own account decides where files, batches and fine-tuning jobs are stored.
    endpoints: [
      'chat-completions',
      'completions',
      'responses',
      'messages',
      'embeddings',
      'image-generations',
      'image-edits',
      'speech',
      'transcriptions',
      'translations',
      'moderations',
      'files',
      'batches',
      'fine-tuning',
      'models',
    ],
    accountHeaders: ['virtual-key', 'provider', 'config'].map((name) => ({
      field: `portkey-${name}`,
      header: `x-portkey-${name}`,
    })),
    pricesId: null,
    source: 'https://portkey.ai/docs/api-reference/inference-api/introduction',
  }),
  compatible({
    id: 'vercel-ai-gateway',
    name: 'Vercel AI Gateway',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    // Messages and reranking: https://vercel.com/docs/ai-gateway/sdks-and-apis
    endpoints: ['chat-completions', 'responses', 'messages', 'embeddings', 'rerank', 'models'],
    pricesId: null,
    source: 'https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions',
  }),
  compatible({
    id: 'helicone',
    name: 'Helicone AI Gateway',
    baseUrl: 'https://ai-gateway.helicone.ai/v1',
    endpoints: ['chat-completions', 'responses'],
    pricesId: null,
    source: 'https://docs.helicone.ai/rest/ai-gateway/post-v1-chat-completions',
  }),
  compatible({
    id: 'cometapi',
    name: 'CometAPI',
    baseUrl: 'https://api.cometapi.com/v1',
    endpoints: ['chat-completions', 'responses', 'embeddings', 'models'],
    pricesId: null,
    source: 'https://apidoc.cometapi.com',
  }),
  compatible({
    id: '302ai',
    name: '302.AI',
    baseUrl: 'https://api.302.ai/v1',
    hostPath: '/v1',
    pricesId: null,
    source: 'https://doc-en.302.ai/api-255482146',
  }),
  compatible({
    id: 'poe',
    name: 'Poe',
    baseUrl: 'https://api.poe.com/v1',
    // Its messages endpoint serves Claude models only, so messages are translated.
    endpoints: ['chat-completions', 'responses'],
    pricesId: null,
    source: 'https://creator.poe.com/docs/external-applications/openai-compatible-api',
  }),
  compatible({
    id: 'nano-gpt',
    name: 'NanoGPT',
    baseUrl: 'https://nano-gpt.com/api/v1',
    pricesId: null,
    source: 'https://docs.nano-gpt.com',
  }),
  compatible({
    id: 'deepbricks',
    name: 'Deepbricks',
    baseUrl: 'https://api.deepbricks.ai/v1',
    endpoints: ['chat-completions', 'image-generations'],
    pricesId: null,
    source: 'https://deepbricks.ai/api-docs',
    unverified:
      'Not verified against the documentation; base URL and key come from clients of other projects.',
  }),
  compatible({
    id: 'nextbit',
    name: 'NextBit',
    baseUrl: 'https://api.nextbit256.com/v1',
    endpoints: ['chat-completions', 'completions'],
    pricesId: null,
    source: 'https://www.nextbit256.com/docs/api',
    unverified:
      'Not verified against the documentation; base URL and key come from clients of other projects.',
  }),
  compatible({
    id: 'aibadgr',
    name: 'AI Badgr',
    baseUrl: 'https://aibadgr.com/api/v1',
    pricesId: null,
    source: 'https://aibadgr.com/docs',
    unverified:
      'Not verified against the documentation. Clients of other projects use this base URL; its own newer tools use https://aibadgr.com/v1.',
  }),
];
