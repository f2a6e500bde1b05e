import type { Json, UsageReader } from '../endpoint.js';
import { checkedUsage } from './checked-usage.js';
import { count, countOfModality, isObject, list, objectOf, textOf, textOrNull } from './reading.js';

/**
 * Reads OpenAI's embeddings, which have no output tokens. Voyage reports only `total_tokens`.
 * https://github.com/openai/openai-node/blob/master/src/resources/embeddings.ts (CreateEmbeddingResponse.Usage)
 * https://docs.voyageai.com/reference/embeddings-api
 */
export const embeddingsUsage: UsageReader = {
  fromAnswer({ usage }) {
    const { prompt_tokens, total_tokens } = objectOf(usage);
    return checkedUsage(count(prompt_tokens) ?? count(total_tokens), 0);
  },
  modelOf: ({ model }) => textOrNull(model),
  outputText: () => '',
  inputText: ({ input }) => textOf(input),
};

/**
 * Reads Google's embeddings, one or many. Models before Gemini's report no usage.
 * https://ai.google.dev/api/embeddings#EmbeddingUsageMetadata
 */
export const embedContentUsage: UsageReader = {
  fromAnswer({ usageMetadata }) {
    const { promptTokenCount, promptTokenDetails } = objectOf(usageMetadata);
    return checkedUsage(count(promptTokenCount), 0, {
      audio_input_tokens: countOfModality(promptTokenDetails, 'AUDIO'),
    });
  },
  modelOf: () => null,
  outputText: () => '',
  inputText(request) {
    const requests = Array.isArray(request.requests) ? list(request.requests) : [request];
    let text = '';
    for (const { content } of requests.filter(isObject)) text += contentText(content);
    return text;
  },
};

const contentText = (content: unknown): string => textOf(objectOf(content).parts);

/**
 * Reads moderations, whose responses report usage at providers that bill them. Images are not counted.
 * https://docs.mistral.ai/api/endpoint/classifiers
 */
export const moderationsUsage: UsageReader = { ...embeddingsUsage, inputText: ({ input }) => textOf(input) };

/**
 * Reads rerankings. Jina and Voyage report `usage.total_tokens`. Cohere bills search units (`meta.billed_units`), and may report tokens in
 * `meta.tokens` as well. Other providers of Cohere's format bill tokens: their search units cost nothing.
 * https://api.jina.ai/redoc#tag/rerank https://docs.voyageai.com/reference/reranker-api
 * https://github.com/cohere-ai/cohere-typescript/blob/main/src/api/types/ApiMeta.ts
 */
export const rerankUsage: UsageReader = {
  fromAnswer(answer) {
    const { total_tokens, prompt_tokens } = objectOf(answer.usage);
    const reported = count(total_tokens) ?? count(prompt_tokens);
    if (reported !== null) return checkedUsage(reported, 0);
    const { billed_units, tokens } = objectOf(answer.meta);
    const { search_units, input_tokens: billed } = objectOf(billed_units);
    const units = billed === undefined ? count(search_units) : null;
    const { input_tokens, output_tokens } = objectOf(tokens);
    const input = count(input_tokens) ?? (units === null ? null : 0);
    return checkedUsage(input, count(output_tokens) ?? 0, { search_units: units });
  },
  modelOf: ({ model }) => textOrNull(model),
  outputText: () => '',
  inputText: ({ query, documents }: Json) => textOf(query) + textOf(documents),
};
