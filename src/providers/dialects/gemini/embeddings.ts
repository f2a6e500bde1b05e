import type { Json } from '../../endpoint.js';
import { count, isObject, list } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { googleError } from './errors.js';
import { firstField } from './fields.js';
import { aiStudio, vertexAi } from './host.js';
import { refuseParameter } from '../refusing.js';
import { base64Floats } from '../vectors.js';

/** The texts and options of the hub's request, in the order of its inputs. */
interface EmbeddingInput {
  readonly texts: readonly string[];
  readonly isSingle: boolean;
  /** `taskType`, `title` and `outputDimensionality`, if requested. */
  readonly options: Json;
}

/** https://ai.google.dev/api/embeddings */
export const aiStudioEmbeddings: Translator = {
  request(hub, { model }): ProviderRequest {
    const { texts, isSingle, options } = embeddingInput(hub);
    const name = aiStudio.resourceOf(model);
    const requests = texts.map((text) => ({ model: name, content: { parts: [{ text }] }, ...options }));
    return isSingle
      ? { path: aiStudio.pathOf(model, 'embedContent'), body: requests[0] ?? {} }
      : { path: aiStudio.pathOf(model, 'batchEmbedContents'), body: { requests } };
  },
  answer: fromGeminiEmbeddings,
  error: googleError,
};

/**
 * Text models use `predict`. Gemini models after 001 use `embedContent`, for one input at a time.
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api and, for the latter,
 * https://github.com/googleapis/js-genai/blob/main/src/converters/_models_converters.ts, which uses version 1beta1; whether version 1 has
 * it too was not found.
 */
export const vertexEmbeddings: Translator = {
  request(hub, { model }): ProviderRequest {
    return hasEmbedContent(vertexAi.resourceOf(model)) ? embedContent(hub, model) : predict(hub, model);
  },
  answer: fromGeminiEmbeddings,
  error: googleError,
};

const hasEmbedContent = (model: string): boolean =>
  model.includes('gemini') && model !== 'gemini-embedding-001';

function embedContent(hub: Json, model: string): ProviderRequest {
  const { texts, options } = embeddingInput(hub);
  const [text] = texts;
  if (text === undefined || texts.length > 1)
    return refuseParameter('input', 'this model takes one input at a time');
  const body = { content: { parts: [{ text }] }, ...(hasAny(options) && { embedContentConfig: options }) };
  return { path: vertexAi.pathOf(model, 'embedContent'), body };
}

function predict(hub: Json, model: string): ProviderRequest {
  const { texts, options } = embeddingInput(hub);
  const { outputDimensionality, taskType, title } = options;
  const shared = {
    ...(taskType !== undefined && { task_type: taskType }),
    ...(title !== undefined && { title }),
  };
  const instances = texts.map((content) => ({ content, ...shared }));
  const parameters = outputDimensionality === undefined ? {} : { parameters: { outputDimensionality } };
  return { path: vertexAi.pathOf(model, 'predict'), body: { instances, ...parameters } };
}

/** `encoding_format` is not sent to the provider, which returns only numbers. */
function embeddingInput(hub: Json): EmbeddingInput {
  const isSingle = !Array.isArray(hub.input);
  const inputs: readonly unknown[] = isSingle ? [hub.input] : list(hub.input);
  const texts = inputs.filter((input) => typeof input === 'string');
  if (texts.length < inputs.length)
    refuseParameter('input', 'this provider embeds text, not tokens or other things');
  const options = {
    taskType: firstField(hub, 'task_type', 'taskType'),
    title: hub.title,
    outputDimensionality: firstField(hub, 'dimensions', 'outputDimensionality'),
  };
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== null);
  return { texts, isSingle, options: Object.fromEntries(given) };
}

const hasAny = (object: Json): boolean => Object.keys(object).length > 0;

/**
 * Vectors of any of the three responses as the hub's `data`. `request`, the hub's own, determines whether the client requested base64 (of
 * 32-bit floats, little-endian); otherwise vectors are numbers. No `usage` if none was reported.
 * https://platform.openai.com/docs/api-reference/embeddings
 */
export function fromGeminiEmbeddings(answer: Json, { model }: Context, request: Json = {}): Json {
  const isBase64 = request.encoding_format === 'base64';
  const data = vectorsOf(answer).map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: isBase64 ? base64Floats(vector) : vector,
  }));
  const tokens = tokensOf(answer);
  return {
    object: 'list',
    data,
    model,
    ...(tokens !== null && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}

function vectorsOf(answer: Json): number[][] {
  const found = answer.embedding === undefined ? list(answer.embeddings) : [answer.embedding];
  const predicted = list(answer.predictions).map((one) => (isObject(one) ? one.embeddings : null));
  return [...found, ...predicted].filter(isObject).map(({ values }) => list(values).filter(isNumber));
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** The tokens of the whole response, or the sum over its predictions; null unless all of them report it. */
function tokensOf(answer: Json): number | null {
  if (isObject(answer.usageMetadata)) return count(answer.usageMetadata.promptTokenCount);
  const predictions = list(answer.predictions);
  const counts = predictions.map(tokenCount).filter((tokens) => tokens !== null);
  if (counts.length === 0 || counts.length < predictions.length) return null;
  return counts.reduce((sum, tokens) => sum + tokens, 0);
}

/** `statistics.token_count`. */
function tokenCount(prediction: unknown): number | null {
  const embeddings = isObject(prediction) ? prediction.embeddings : null;
  const statistics = isObject(embeddings) ? embeddings.statistics : null;
  return isObject(statistics) ? count(statistics.token_count) : null;
}
