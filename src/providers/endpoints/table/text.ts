import type { Endpoint } from '../../endpoint.js';
import { chatCompletionsUsage } from '../chat-completions.js';
import { completionsUsage } from '../completions.js';
import { embedContentUsage, embeddingsUsage, moderationsUsage, rerankUsage } from '../embeddings.js';
import { generateContentUsage } from '../generate-content.js';
import { interactionsUsage } from '../interactions.js';
import { messagesUsage } from '../messages.js';
import { ocrUsage } from '../ocr.js';
import { compactionUsage, responsesUsage } from '../responses.js';
import { chatV2Usage, embedV2Usage } from '../v2.js';
import { openAiClient, post } from './operation.js';

/**
 * Google's clients append their own version to the base URL: `/v1beta`, or nothing with `apiVersion: ""`. With the gateway's `/v1` as base
 * URL they send `/v1/v1beta/models/{model}:generateContent`. https://github.com/googleapis/js-genai/blob/main/src/_api_client.ts
 * (getRequestUrlInternal)
 */
const googleMethod = (method: string) => [
  post(`/v1beta/models/{model}:${method}`),
  post(`/models/{model}:${method}`),
];

/** Google's format is not translated for other providers. */
const GOOGLES_KEY = 'Use a virtual key of Google, for example by models/@slug/model in the path, or';

/** Generation of text, and models that read text. */
export const textEndpoints: readonly Endpoint[] = [
  {
    id: 'chat-completions',
    title: 'chat completions',
    operations: [post('/chat/completions')],
    body: 'json',
    storage: 'on-request',
    usage: chatCompletionsUsage,
    usageInStreams: 'asked',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
  },
  {
    id: 'completions',
    title: 'completions',
    operations: [post('/completions')],
    body: 'json',
    storage: 'none',
    usage: completionsUsage,
    usageInStreams: 'asked',
    source: openAiClient('completions.ts'),
  },
  {
    id: 'fim-completions',
    title: 'fill-in-the-middle completions',
    operations: [post('/fim/completions')],
    body: 'json',
    storage: 'none',
    // Its responses are those of chat completions, and a stream always ends with its usage.
    usage: { ...chatCompletionsUsage, inputText: (request) => completionsUsage.inputText(request) },
    usageInStreams: 'always',
    source: 'https://github.com/mistralai/client-ts/blob/main/src/models/components/fimcompletionrequest.ts',
  },
  {
    id: 'agent-completions',
    title: 'agent completions',
    operations: [post('/agents/completions')],
    body: 'json',
    agentMember: 'agent_id',
    // It names an agent in place of a model; the response, one of chat completions, names the model, which determines the price.
    usage: chatCompletionsUsage,
    usageInStreams: 'always',
    source:
      'https://github.com/mistralai/client-ts/blob/main/src/models/components/agentscompletionrequest.ts',
  },
  {
    id: 'responses',
    title: 'responses',
    operations: [post('/responses')],
    body: 'json',
    storage: 'unless-refused',
    usage: responsesUsage,
    usageInStreams: 'always',
    source: openAiClient('responses/responses.ts'),
  },
  {
    id: 'compaction',
    title: 'compaction of conversations',
    operations: [post('/responses/compact')],
    body: 'json',
    usage: compactionUsage,
    usageInStreams: 'always',
    source: 'https://developers.openai.com/api/reference/resources/responses/methods/compact',
  },
  {
    id: 'messages',
    title: 'messages',
    operations: [post('/messages')],
    body: 'json',
    storage: 'none',
    usage: messagesUsage,
    usageInStreams: 'always',
    source:
      'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/resources/messages/messages.ts',
  },
  {
    id: 'count-tokens',
    title: 'token counting',
    operations: [post('/messages/count_tokens')],
    body: 'json',
    // Counting is free: https://docs.claude.com/en/docs/build-with-claude/token-counting
    storage: 'none',
    usage: null,
    usageInStreams: 'always',
    source:
      'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/resources/messages/messages.ts',
  },
  {
    id: 'generate-content',
    title: "Google's generateContent",
    operations: ['generateContent', 'streamGenerateContent', 'countTokens'].flatMap(googleMethod),
    body: 'json',
    storage: 'none',
    usage: generateContentUsage,
    usageInStreams: 'always',
    elsewhere: `${GOOGLES_KEY} send it to /v1/chat/completions, /v1/messages or /v1/responses in that format.`,
    source: 'https://ai.google.dev/api/generate-content',
  },
  {
    id: 'interactions',
    title: "Google's interactions",
    // The gateway takes Google's version off the path: `/v1beta/interactions`.
    operations: [post('/interactions')],
    body: 'json',
    agentMember: 'agent',
    usage: interactionsUsage,
    usageInStreams: 'always',
    source: 'https://ai.google.dev/api/interactions-api',
  },
  {
    id: 'embed-content',
    title: "Google's embedContent",
    operations: ['embedContent', 'batchEmbedContents'].flatMap(googleMethod),
    body: 'json',
    storage: 'none',
    usage: embedContentUsage,
    usageInStreams: 'always',
    elsewhere: `${GOOGLES_KEY} send it to /v1/embeddings in OpenAI's format.`,
    source: 'https://ai.google.dev/api/embeddings',
  },
  {
    id: 'chat-v2',
    title: "Cohere's chat",
    operations: [post('/v2/chat')],
    body: 'json',
    storage: 'none',
    usage: chatV2Usage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/chat',
  },
  {
    id: 'embed-v2',
    title: "Cohere's embeddings",
    operations: [post('/v2/embed')],
    body: 'json',
    storage: 'none',
    usage: embedV2Usage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/embed',
  },
  {
    id: 'rerank-v2',
    title: "Cohere's reranking",
    operations: [post('/v2/rerank')],
    body: 'json',
    storage: 'none',
    usage: rerankUsage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/rerank',
  },
  {
    id: 'embeddings',
    title: 'embeddings',
    operations: [post('/embeddings')],
    body: 'json',
    storage: 'none',
    usage: embeddingsUsage,
    usageInStreams: 'always',
    source: openAiClient('embeddings.ts'),
  },
  {
    id: 'rerank',
    title: 'reranking',
    operations: [post('/rerank')],
    body: 'json',
    storage: 'none',
    usage: rerankUsage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/rerank',
  },
  {
    id: 'moderations',
    title: 'moderations',
    operations: [post('/moderations')],
    body: 'json',
    storage: 'none',
    usage: moderationsUsage,
    usageInStreams: 'always',
    source: openAiClient('moderations.ts'),
  },
  {
    id: 'ocr',
    title: 'OCR',
    operations: [post('/ocr')],
    body: 'json',
    storage: 'none',
    usage: ocrUsage,
    usageInStreams: 'always',
    source: 'https://docs.mistral.ai/api/endpoint/ocr',
  },
];
