import type { EndpointId } from '../../../src/providers/endpoint.js';

/**
 * The client shapes that each provider speaks at its base URL, written by hand from the providers' documentation. The
 * suite compares this list with the catalogue, so it must not be derived from it. Each pair passes byte for byte.
 * Pages for endpoints that are not obvious from a provider's list of endpoints:
 *
 * https://docs.cohere.com/reference/rerank
 * https://docs.together.ai/reference/rerank
 * https://docs.vllm.ai/en/stable/serving/online_serving.html
 * https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
 * https://novita.ai/docs/api-reference/model-apis-llm-create-rerank
 * https://docs.siliconflow.cn/docs/api/messages-post
 * https://vercel.com/docs/ai-gateway/sdks-and-apis/anthropic-messages-api
 * https://vercel.com/docs/ai-gateway/sdks-and-apis/cohere-rerank
 * https://huggingface.co/docs/inference-providers/guides/responses-api
 * https://creator.poe.com/docs/external-applications
 * https://docs.perplexity.ai/docs/agent-api/openai-compatibility
 * https://inference-docs.cerebras.ai/resources/openai
 */
export const SPOKEN: Readonly<Record<string, string>> = {
  // Model labs
  openai:
    'chat-completions completions responses compaction embeddings moderations image-generations image-edits image-variations speech transcriptions translations',
  anthropic: 'messages count-tokens',
  google: 'generate-content interactions embed-content',
  cohere: 'chat-v2 embed-v2 rerank-v2 rerank',
  'mistral-ai':
    'chat-completions fim-completions agent-completions embeddings moderations ocr speech transcriptions',
  deepseek: 'chat-completions responses',
  'x-ai': 'chat-completions responses image-generations',
  moonshot: 'chat-completions',
  'moonshot-ai': 'chat-completions',
  zhipu: 'chat-completions embeddings',
  'z-ai': 'chat-completions image-generations',
  minimax: 'chat-completions responses',
  stepfun: 'chat-completions messages responses',
  xiaomi: 'chat-completions',
  inception: 'chat-completions',
  arcee: 'chat-completions',
  upstage: 'chat-completions embeddings',
  'reka-ai': 'chat-completions',
  'perplexity-ai': 'chat-completions responses',
  lingyi: 'chat-completions',
  krutrim: 'chat-completions',
  matterai: 'chat-completions',

  // Hyperscalers and cloud platforms
  'azure-openai':
    'chat-completions completions responses embeddings image-generations image-edits speech transcriptions translations',
  'azure-openai-entra':
    'chat-completions completions responses embeddings image-generations image-edits speech transcriptions translations',
  'azure-ai':
    'chat-completions completions responses embeddings image-generations image-edits speech transcriptions translations messages',
  'bedrock-mantle': 'chat-completions responses',
  'claude-platform-aws': 'messages count-tokens',
  'claude-platform-aws-iam': 'messages count-tokens',
  'vertex-ai': 'generate-content embed-content',
  'vertex-ai-global': 'generate-content embed-content',
  databricks: 'chat-completions completions embeddings responses',
  cortex: 'chat-completions',
  'workers-ai': 'chat-completions embeddings',
  oracle: 'chat-completions responses',
  dashscope: 'chat-completions responses embeddings',
  'dashscope-cn': 'chat-completions embeddings',
  'dashscope-us': 'chat-completions',
  volcengine: 'chat-completions responses',
  byteplus: 'chat-completions responses image-generations',
  'nvidia-nim': 'chat-completions',
  scaleway: 'chat-completions responses',
  ovhcloud: 'chat-completions responses',
  digitalocean: 'chat-completions responses messages',
  vultr: 'chat-completions',
  nscale: 'chat-completions image-generations',
  latitude: 'chat-completions',
  monsterapi: 'chat-completions',
  github: 'chat-completions embeddings',

  // Inference clouds
  groq: 'chat-completions responses embeddings speech transcriptions translations',
  'together-ai':
    'chat-completions completions embeddings image-generations speech transcriptions translations rerank',
  deepinfra: 'chat-completions completions embeddings image-generations',
  'fireworks-ai': 'chat-completions completions responses messages embeddings',
  cerebras: 'chat-completions completions',
  sambanova: 'chat-completions completions embeddings',
  nebius: 'chat-completions completions embeddings image-generations',
  'novita-ai': 'chat-completions completions embeddings rerank',
  siliconflow: 'chat-completions messages embeddings rerank speech transcriptions',
  'siliconflow-com': 'chat-completions messages rerank',
  hyperbolic: 'chat-completions completions',
  'featherless-ai': 'chat-completions completions',
  doubleword: 'chat-completions',
  baseten: 'chat-completions',
  friendli: 'chat-completions',
  parasail: 'chat-completions',
  chutes: 'chat-completions',
  venice: 'chat-completions embeddings',
  wandb: 'chat-completions',
  'inference-net': 'chat-completions',
  lambda: 'chat-completions completions',
  'kluster-ai': 'chat-completions embeddings',
  iointelligence: 'chat-completions embeddings',
  'lemonfox-ai': 'chat-completions image-generations transcriptions',
  bytez: 'chat-completions',
  lepton: 'chat-completions completions transcriptions',
  ncompass: 'chat-completions',
  'lightning-ai': 'chat-completions',

  // Gateways and deployments
  portkey:
    'chat-completions completions responses messages embeddings image-generations image-edits speech transcriptions translations moderations',
  openrouter: 'chat-completions completions responses messages embeddings',
  huggingface: 'chat-completions responses',
  'vercel-ai-gateway': 'chat-completions responses messages embeddings rerank',
  helicone: 'chat-completions responses',
  cometapi: 'chat-completions responses embeddings',
  '302ai': 'chat-completions',
  poe: 'chat-completions responses',
  'nano-gpt': 'chat-completions',
  deepbricks: 'chat-completions image-generations',
  nextbit: 'chat-completions completions',
  aibadgr: 'chat-completions',
  predibase: 'chat-completions',
  modal: 'chat-completions',
  'modal-proxy-auth': 'chat-completions',
  anyscale: 'chat-completions completions embeddings',

  // Search and media
  jina: 'rerank',
  'recraft-ai': 'image-generations',

  // Self-hosted servers
  ollama: 'chat-completions completions responses messages embeddings',
  triton: 'chat-completions completions embeddings',
  vllm: 'chat-completions completions responses messages count-tokens embeddings rerank transcriptions translations',
  'lm-studio': 'chat-completions completions responses messages embeddings',
  'llama-cpp': 'chat-completions completions responses messages count-tokens embeddings rerank',
  localai: 'chat-completions completions embeddings',
};

/** Pairs that the gateway translates although the provider offers an endpoint of that shape, with the reason. */
export const TRANSLATED_ON_PURPOSE: readonly (readonly [
  provider: string,
  endpoint: EndpointId,
  reason: string,
])[] = [
  [
    'anthropic',
    'chat-completions',
    'https://platform.claude.com/docs/en/api/openai-sdk: for trying out, loses features',
  ],
  [
    'google',
    'chat-completions',
    'https://ai.google.dev/gemini-api/docs/openai: a compatibility layer in beta',
  ],
  ['vertex-ai', 'chat-completions', 'another path, /endpoints/openapi, and other names of models'],
  ['vertex-ai-global', 'chat-completions', 'another path, /endpoints/openapi, and other names of models'],
  [
    'cohere',
    'chat-completions',
    'https://docs.cohere.com/docs/compatibility-api: has no documents and citations',
  ],
  ['cohere', 'embeddings', 'https://docs.cohere.com/docs/compatibility-api: has no input_type'],
  ['ollama-native', 'chat-completions', 'this row is for the native API; the row "ollama" passes'],
  [
    'deepseek',
    'messages',
    'https://api-docs.deepseek.com/guides/anthropic_api: another base URL, a custom host names it',
  ],
  ['novita-ai', 'messages', 'https://novita.ai/docs/guides/llm-anthropic-compatibility: another base URL'],
  [
    'poe',
    'messages',
    'https://creator.poe.com/docs/external-applications/anthropic-compatible-api: Claude models only',
  ],
  ['voyage', 'rerank', 'top_k for top_n, data for results: https://docs.voyageai.com/reference/reranker-api'],
];
