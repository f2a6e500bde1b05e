import { bearer, inHeader } from '../auth-scheme.js';
import { anthropic } from '../dialects/anthropic/index.js';
import { cohere } from '../dialects/cohere/index.js';
import { gemini } from '../dialects/gemini/index.js';
import { MISTRAL_CALL_IDS, OPENAI_CALL_IDS } from '../dialects/call-ids.js';
import { mistral } from '../dialects/mistral.js';
import type { Provider } from '../provider.js';
import { compatible, messageBatchLinks, passedThrough } from './compatible.js';

/** Companies that train models and serve them themselves. */
export const modelLabs: readonly Provider[] = [
  compatible({
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    callIds: OPENAI_CALL_IDS,
    // https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options
    streamUsage: { reported: 'on-request' },
    endpoints: [
      'chat-completions',
      'completions',
      'responses',
      'compaction',
      'embeddings',
      'moderations',
      'image-generations',
      'image-edits',
      'image-variations',
      'speech',
      'transcriptions',
      'translations',
      'files',
      'batches',
      'fine-tuning',
      'vector-stores',
      'realtime',
      'models',
    ],
    accountHeaders: [
      { field: 'openai-organization', header: 'openai-organization' },
      { field: 'openai-project', header: 'openai-project' },
      { field: 'openai-beta', header: 'openai-beta' },
    ],
    source: 'https://github.com/openai/openai-node/blob/master/src/client.ts',
  }),
  {
    id: 'anthropic',
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    dialect: anthropic,
    auth: inHeader('x-api-key'),
    // Files and models have OpenAI's paths but a format of their own, which Anthropic's clients expect.
    endpoints: ['messages', 'count-tokens', 'files', 'models'],
    links: messageBatchLinks,
    accountHeaders: [
      { field: 'anthropic-version', header: 'anthropic-version' },
      { field: 'anthropic-beta', header: 'anthropic-beta' },
    ],
    source: 'https://platform.claude.com/docs/en/api/models',
  },
  {
    id: 'google',
    name: 'Google Gemini (AI Studio)',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    hostPath: '/v1beta',
    dialect: gemini,
    auth: inHeader('x-goog-api-key'),
    endpoints: ['generate-content', 'interactions', 'embed-content'],
    // Versions, live sessions and uploads are siblings: https://ai.google.dev/api/live,
    // https://ai.google.dev/api/files#method:-media.upload. OpenAI's format is below a version:
    // https://ai.google.dev/gemini-api/docs/openai
    paths: { atRoot: ['/v1beta', '/v1alpha', '/v1', '/ws', '/upload'], belowBase: ['/openai'] },
    uploadAddressHeader: 'x-goog-upload-url',
    // https://ai.google.dev/gemini-api/docs/priority-inference
    tierHeader: 'x-gemini-service-tier',
    keyParameter: 'key',
    source: 'https://ai.google.dev/api',
  },
  passedThrough({
    id: 'palm',
    name: 'Google PaLM',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta3',
    auth: inHeader('x-goog-api-key'),
    pricesId: null,
    source: 'https://ai.google.dev/gemini-api/docs/deprecations',
    unverified: 'Google has retired these models; the row only keeps old configurations readable.',
  }),
  {
    id: 'cohere',
    name: 'Cohere',
    baseUrl: 'https://api.cohere.com',
    dialect: cohere,
    auth: bearer,
    endpoints: ['chat-v2', 'embed-v2', 'rerank-v2', 'rerank'],
    // Every path of its documentation begins with a version.
    paths: { atRoot: ['/v1', '/v2'] },
    source: 'https://docs.cohere.com/reference/chat',
  },
  compatible({
    id: 'mistral-ai',
    name: 'Mistral AI',
    baseUrl: 'https://api.mistral.ai/v1',
    // Moderation and speech have OpenAI's paths but a format of their own, which Mistral's clients expect; batches and fine-tuning have
    // other paths.
    dialect: mistral,
    endpoints: [
      'chat-completions',
      'fim-completions',
      'agent-completions',
      'embeddings',
      'moderations',
      'ocr',
      'speech',
      'transcriptions',
      'files',
      'models',
    ],
    pricesId: 'mistral',
    callIds: MISTRAL_CALL_IDS,
    // https://github.com/BerriAI/litellm/issues/30835
    reasoningField: null,
    // It refuses the option: https://github.com/openai/openai-agents-python/issues/442
    streamUsage: { reported: 'always' },
    source: 'https://docs.mistral.ai/api',
  }),
  compatible({
    id: 'deepseek',
    name: 'DeepSeek',
    // The documented paths have no version part; api.deepseek.com/v1 was a synonym that the page no longer names.
    baseUrl: 'https://api.deepseek.com',
    endpoints: ['chat-completions', 'responses', 'models'],
    source: 'https://api-docs.deepseek.com/',
  }),
  compatible({
    id: 'x-ai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    // Image edits take JSON and batches have paths of their own; /v1/messages is deprecated. Realtime:
    // https://docs.x.ai/docs/guides/voice/agent
    endpoints: ['chat-completions', 'responses', 'image-generations', 'files', 'realtime', 'models'],
    source: 'https://docs.x.ai/api-reference',
  }),
  compatible({
    id: 'moonshot',
    name: 'Moonshot AI (China)',
    baseUrl: 'https://api.moonshot.cn/v1',
    hostPath: '/v1',
    endpoints: ['chat-completions', 'models'],
    // https://forum.moonshot.ai/t/api-not-fully-openai-compatible/67
    streamUsage: { reported: 'on-request' },
    pricesId: 'moonshotai',
    source: 'https://platform.kimi.com/docs/api/overview',
  }),
  compatible({
    id: 'moonshot-ai',
    name: 'Moonshot AI (international)',
    baseUrl: 'https://api.moonshot.ai/v1',
    hostPath: '/v1',
    endpoints: ['chat-completions', 'models'],
    // https://forum.moonshot.ai/t/api-not-fully-openai-compatible/67
    streamUsage: { reported: 'on-request' },
    pricesId: 'moonshotai',
    source: 'https://platform.moonshot.ai/docs/api/chat',
  }),
  compatible({
    id: 'zhipu',
    name: 'Zhipu AI',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    endpoints: ['chat-completions', 'embeddings'],
    pricesId: 'zhipuai',
    source: 'https://docs.bigmodel.cn/cn/guide/start/model-overview',
  }),
  compatible({
    id: 'z-ai',
    name: 'Z.AI',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    endpoints: ['chat-completions', 'image-generations'],
    pricesId: 'zai',
    source: 'https://docs.z.ai/guides/capabilities/thinking',
  }),
  compatible({
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    endpoints: ['chat-completions', 'responses', 'models'],
    source: 'https://platform.minimax.io/docs/guides/quickstart',
  }),
  compatible({
    id: 'stepfun',
    name: 'StepFun',
    baseUrl: 'https://api.stepfun.com/v1',
    endpoints: ['chat-completions', 'messages', 'responses'],
    pricesId: null,
    source: 'https://platform.stepfun.com/docs/zh/api-reference/chat/chat-completion-create',
  }),
  compatible({
    id: 'xiaomi',
    name: 'Xiaomi MiMo',
    baseUrl: 'https://api.xiaomimimo.com/v1',
    pricesId: null,
    source: 'https://platform.xiaomimimo.com/static/docs/api/chat/openai-api.md',
  }),
  compatible({
    id: 'inception',
    name: 'Inception',
    baseUrl: 'https://api.inceptionlabs.ai/v1',
    pricesId: null,
    source: 'https://docs.inceptionlabs.ai/api-reference/chat/create-a-chat-completion',
  }),
  compatible({
    id: 'arcee',
    name: 'Arcee AI',
    baseUrl: 'https://api.arcee.ai/api/v1',
    endpoints: ['chat-completions', 'models'],
    source: 'https://docs.arcee.ai/api-reference/chat-completion',
  }),
  compatible({
    id: 'upstage',
    name: 'Upstage',
    baseUrl: 'https://api.upstage.ai/v1/solar',
    endpoints: ['chat-completions', 'embeddings'],
    pricesId: null,
    source: 'https://developers.upstage.ai/docs/apis/chat',
  }),
  compatible({
    id: 'reka-ai',
    name: 'Reka AI',
    baseUrl: 'https://api.reka.ai/v1',
    auth: inHeader('x-api-key'),
    endpoints: ['chat-completions', 'models'],
    pricesId: null,
    source: 'https://docs.reka.ai/chat/overview.md',
  }),
  compatible({
    id: 'perplexity-ai',
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai/v1',
    endpoints: ['chat-completions', 'responses'],
    pricesId: 'perplexity',
    source: 'https://docs.perplexity.ai/docs/agent-api/migrate-from-sonar/overview',
    unverified:
      'Its documentation lists chat completions as supported; other sources say that they ended on 27 September 2026.',
  }),
  passedThrough({
    id: 'ai21',
    name: 'AI21',
    baseUrl: 'https://api.ai21.com/studio/v1',
    pricesId: null,
    source: 'https://docs.ai21.com/august-deprecation-notice',
    unverified: 'AI21 announced the end of this API for 9 August 2026, without a successor.',
  }),
  compatible({
    id: 'lingyi',
    name: 'Lingyi (01.AI)',
    baseUrl: 'https://api.lingyiwanwu.com/v1',
    hostPath: '/v1',
    pricesId: null,
    source: 'https://platform.lingyiwanwu.com/docs',
    unverified:
      'Not verified against the documentation; base URL and key come from clients of other projects.',
  }),
  compatible({
    id: 'krutrim',
    name: 'Krutrim',
    // Base URL and key are in its client: https://github.com/ola-krutrim/krutrim-cloud-python/blob/main/src/krutrim_cloud/_client.py
    baseUrl: 'https://cloud.olakrutrim.com/v1',
    pricesId: null,
    source: 'https://docs.cloud.olakrutrim.com/basics/ai-studio/ai-jobs/inferencing',
  }),
  compatible({
    id: 'matterai',
    name: 'MatterAI',
    baseUrl: 'https://api.matterai.so/v1',
    pricesId: null,
    source: 'https://docs.matterai.so/',
    unverified:
      'Not verified against the documentation. Its own tools call https://api2.matterai.so/v1/web with a token of their sign-in.',
  }),
];
