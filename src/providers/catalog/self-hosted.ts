import { noAuth } from '../auth-scheme.js';
import { ollama, ollamaNative } from '../dialects/ollama/index.js';
import type { Provider } from '../provider.js';
import { compatible, translated } from './compatible.js';

/**
 * Self-hosted servers, at the custom host of a virtual key or of `x-gateway-custom-host`. Servers that can require a key are sent one; a
 * server started without accepts any.
 */
export const selfHosted: readonly Provider[] = [
  compatible({
    id: 'ollama',
    name: 'Ollama',
    baseUrl: null,
    dialect: ollama,
    auth: noAuth,
    endpoints: ['chat-completions', 'completions', 'responses', 'messages', 'embeddings', 'models'],
    paths: { atRoot: ['/v1', '/api'] },
    // https://docs.ollama.com/api/openai-compatibility
    streamUsage: { reported: 'on-request' },
    pricesId: null,
    source: 'https://docs.ollama.com/api/openai-compatibility',
  }),
  translated({
    id: 'ollama-native',
    name: 'Ollama (its own API)',
    baseUrl: null,
    dialect: ollamaNative,
    auth: noAuth,
    pricesId: null,
    source: 'https://docs.ollama.com/api/chat',
  }),
  compatible({
    id: 'triton',
    name: 'NVIDIA Triton (OpenAI-compatible frontend)',
    baseUrl: null,
    auth: noAuth,
    endpoints: ['chat-completions', 'completions', 'embeddings', 'models'],
    pricesId: null,
    source:
      'https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/client_guide/openai_readme.html',
  }),
  compatible({
    id: 'vllm',
    name: 'vLLM',
    baseUrl: null,
    endpoints: [
      'chat-completions',
      'completions',
      'responses',
      'messages',
      'count-tokens',
      'embeddings',
      'rerank',
      'transcriptions',
      'translations',
      'models',
    ],
    // https://docs.vllm.ai/en/v0.8.1/serving/openai_compatible_server.html
    streamUsage: { reported: 'on-request' },
    pricesId: null,
    source: 'https://docs.vllm.ai/en/stable/serving/online_serving.html',
  }),
  compatible({
    id: 'lm-studio',
    name: 'LM Studio',
    baseUrl: null,
    endpoints: ['chat-completions', 'completions', 'responses', 'messages', 'embeddings', 'models'],
    pricesId: null,
    source: 'https://lmstudio.ai/docs/api/openai-api',
  }),
  compatible({
    id: 'llama-cpp',
    name: 'llama.cpp server',
    baseUrl: null,
    endpoints: [
      'chat-completions',
      'completions',
      'responses',
      'messages',
      'count-tokens',
      'embeddings',
      'rerank',
      'models',
    ],
    pricesId: null,
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
  }),
  compatible({
    id: 'localai',
    name: 'LocalAI',
    baseUrl: null,
    // Realtime: https://localai.io/features/openai-realtime
    endpoints: ['chat-completions', 'completions', 'embeddings', 'realtime', 'models'],
    pricesId: null,
    source: 'https://localai.io/docs/basics/try/',
  }),
];
