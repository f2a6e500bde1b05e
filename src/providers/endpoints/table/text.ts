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
const googleMethod = (method: string, summary: string) => [
  post(`/v1beta/models/{model}:${method}`, `${summary}, on the path of Google's clients`),
  post(`/models/{model}:${method}`, summary),
];

/** Google's format is not translated for other providers. */
const GOOGLES_KEY = 'Use a virtual key of Google, for example by models/@slug/model in the path, or';

const PROMPT = [{ role: 'user', content: 'Hello' }];

/** Generation of text, and models that read text. */
export const textEndpoints: readonly Endpoint[] = [
  {
    id: 'chat-completions',
    title: 'chat completions',
    group: 'text',
    description:
      "Takes the body of OpenAI's Chat Completions API for models of every provider that generates text.",
    operations: [post('/chat/completions', 'Create a chat completion')],
    example: { model: 'sandbox-1', messages: PROMPT },
    body: 'json',
    storage: 'on-request',
    usage: chatCompletionsUsage,
    usageInStreams: 'asked',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
  },
  {
    id: 'completions',
    title: 'completions',
    group: 'text',
    description: "Takes the body of OpenAI's Completions API, for models that continue a text.",
    operations: [post('/completions', 'Create a completion')],
    example: { model: 'sandbox-1', prompt: 'Hello' },
    body: 'json',
    storage: 'none',
    usage: completionsUsage,
    usageInStreams: 'asked',
    source: openAiClient('completions.ts'),
  },
  {
    id: 'fim-completions',
    title: 'fill-in-the-middle completions',
    group: 'text',
    description: "Takes the body of Mistral's fill-in-the-middle API.",
    operations: [post('/fim/completions', 'Complete the middle of a text')],
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
    group: 'text',
    description: "Takes the body of Mistral's agents API, which names an agent in place of a model.",
    operations: [post('/agents/completions', 'Create a completion of an agent')],
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
    group: 'text',
    description: "Takes the requests of OpenAI's Responses API. Responses are stored at the provider.",
    operations: [post('/responses', 'Create a response')],
    example: { model: 'sandbox-1', input: 'Hello' },
    body: 'json',
    storage: 'unless-refused',
    usage: responsesUsage,
    usageInStreams: 'always',
    source: openAiClient('responses/responses.ts'),
  },
  {
    id: 'compaction',
    title: 'compaction of conversations',
    group: 'text',
    description: "Takes the body of OpenAI's API to compact the conversation of a response.",
    operations: [post('/responses/compact', 'Compact a conversation')],
    body: 'json',
    usage: compactionUsage,
    usageInStreams: 'always',
    source: 'https://developers.openai.com/api/reference/resources/responses/methods/compact',
  },
  {
    id: 'messages',
    title: 'messages',
    group: 'text',
    description:
      "Takes the body of Anthropic's Messages API for models of every provider that generates text.",
    operations: [post('/messages', 'Create a message')],
    example: { model: 'sandbox-1', max_tokens: 100, messages: PROMPT },
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
    group: 'text',
    description: "Takes the body of Anthropic's token counting API. The request is not charged.",
    operations: [post('/messages/count_tokens', 'Count the tokens of a message')],
    example: { model: 'sandbox-1', messages: PROMPT },
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
    group: 'text',
    description: "Takes the body of Google's Gemini API, for Google's models.",
    operations: [
      ...googleMethod('generateContent', 'Generate content'),
      ...googleMethod('streamGenerateContent', 'Generate content as a stream'),
      ...googleMethod('countTokens', 'Count the tokens of contents'),
    ],
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
    group: 'text',
    description:
      "Takes the body of Google's Interactions API. Interactions are stored at the provider. An agent is refused under a limit in dollars or tokens.",
    // The gateway takes Google's version off the path: `/v1beta/interactions`.
    operations: [post('/interactions', 'Create an interaction')],
    body: 'json',
    agentMember: 'agent',
    usage: interactionsUsage,
    usageInStreams: 'always',
    source: 'https://ai.google.dev/api/interactions-api',
  },
  {
    id: 'embed-content',
    title: "Google's embedContent",
    group: 'embeddings',
    description: "Takes the body of Google's Gemini embeddings API.",
    operations: [
      ...googleMethod('embedContent', 'Embed a content'),
      ...googleMethod('batchEmbedContents', 'Embed several contents'),
    ],
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
    group: 'text',
    description: "Takes the body of Cohere's Chat API, version 2.",
    operations: [post('/v2/chat', 'Chat by the API of Cohere')],
    body: 'json',
    storage: 'none',
    usage: chatV2Usage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/chat',
  },
  {
    id: 'embed-v2',
    title: "Cohere's embeddings",
    group: 'embeddings',
    description: "Takes the body of Cohere's Embed API, version 2.",
    operations: [post('/v2/embed', 'Embed by the API of Cohere')],
    body: 'json',
    storage: 'none',
    usage: embedV2Usage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/embed',
  },
  {
    id: 'rerank-v2',
    title: "Cohere's reranking",
    group: 'embeddings',
    description: "Takes the body of Cohere's Rerank API, version 2.",
    operations: [post('/v2/rerank', 'Rerank by the API of Cohere')],
    body: 'json',
    storage: 'none',
    usage: rerankUsage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/rerank',
  },
  {
    id: 'embeddings',
    title: 'embeddings',
    group: 'embeddings',
    description:
      "Takes the body of OpenAI's Embeddings API for models of every provider that computes embeddings.",
    operations: [post('/embeddings', 'Create embeddings')],
    example: { model: 'sandbox-1', input: 'Hello' },
    body: 'json',
    storage: 'none',
    usage: embeddingsUsage,
    usageInStreams: 'always',
    source: openAiClient('embeddings.ts'),
  },
  {
    id: 'rerank',
    title: 'reranking',
    group: 'embeddings',
    description: "Takes the body of Cohere's Rerank API for models of every provider that reranks documents.",
    operations: [post('/rerank', 'Rerank documents')],
    example: { model: 'sandbox-1', query: 'Hello', documents: ['Hello', 'Goodbye'] },
    body: 'json',
    storage: 'none',
    usage: rerankUsage,
    usageInStreams: 'always',
    source: 'https://docs.cohere.com/reference/rerank',
  },
  {
    id: 'moderations',
    title: 'moderations',
    group: 'moderation',
    description: "Takes the body of OpenAI's Moderations API.",
    operations: [post('/moderations', 'Classify harmful content')],
    example: { model: 'sandbox-1', input: 'Hello' },
    body: 'json',
    storage: 'none',
    usage: moderationsUsage,
    usageInStreams: 'always',
    source: openAiClient('moderations.ts'),
  },
  {
    id: 'ocr',
    title: 'OCR',
    group: 'moderation',
    description: "Takes the body of Mistral's OCR API.",
    operations: [post('/ocr', 'Read a document')],
    body: 'json',
    storage: 'none',
    usage: ocrUsage,
    usageInStreams: 'always',
    source: 'https://docs.mistral.ai/api/endpoint/ocr',
  },
];
