import type { Json } from '../../endpoint.js';
import { count, isObject, list } from '../../endpoints/reading.js';
import type { Context, HeaderOf, ProviderRequest, Translator } from '../../translation.js';
import { bedrockError } from './errors.js';
import { bedrockModelPath } from './models.js';
import { unsupportedParameter } from '../refusing.js';
import { base64Floats } from '../vectors.js';

/** The InvokeModel body of a family of embedding models. */
type EmbeddingBodyWriter = (texts: readonly string[], hub: Json) => Json;

const MODELS: readonly (readonly [RegExp, EmbeddingBodyWriter])[] = [
  [/titan-embed-text-v2/, (texts, hub) => ({ ...titanBody(texts), ...titanOptions(hub) })],
  [/titan-embed/, titanFirst],
  [/cohere\.embed/, cohereBody],
];

function request(hub: Json, { model }: Context): ProviderRequest {
  const toBody = MODELS.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1];
  if (!toBody)
    throw unsupportedParameter(
      'model',
      'on Bedrock, only Amazon Titan Text and Cohere Embed models compute embeddings',
    );
  return { path: bedrockModelPath(model, 'invoke'), body: toBody(textsOf(hub), hub) };
}

function textsOf({ input }: Json): readonly string[] {
  const inputs: readonly unknown[] = Array.isArray(input) ? input : [input];
  const texts = inputs.filter((one) => typeof one === 'string');
  if (texts.length < inputs.length || texts.length === 0)
    throw unsupportedParameter('input', 'Bedrock embeds text, not tokens or other things');
  return texts;
}

/** Titan takes one text. https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
function titanBody([text, ...others]: readonly string[]): Json {
  if (others.length > 0) throw unsupportedParameter('input', 'this model takes one input at a time');
  return { inputText: text };
}

function titanFirst(texts: readonly string[], { dimensions }: Json): Json {
  if ((dimensions ?? null) !== null)
    throw unsupportedParameter('dimensions', 'this model has one length of vectors');
  return titanBody(texts);
}

const titanOptions = ({ dimensions, normalize }: Json): Json => present({ dimensions, normalize });

/**
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html. The hub has no field for the purpose of a text; without
 * the client's `input_type` it is a document, as when a vector store is filled.
 */
function cohereBody(texts: readonly string[], hub: Json): Json {
  const { input_type: type, truncate, dimensions } = hub;
  return present({
    texts,
    input_type: type ?? 'search_document',
    truncate,
    embedding_types: ['float'],
    output_dimension: dimensions,
  });
}

function present(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null));
}

/**
 * Vectors of either family as the hub's `data`. `asked`, the hub's own request, determines whether the client requested base64 (of 32-bit
 * floats, little-endian). Cohere reports no tokens, so there is no `usage`. https://platform.openai.com/docs/api-reference/embeddings
 */
export function fromBedrockEmbeddings(answer: Json, { model }: Context, hubRequest: Json): Json {
  const isBase64 = hubRequest.encoding_format === 'base64';
  const data = vectorsOf(answer).map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: isBase64 ? base64Floats(vector) : vector,
  }));
  const tokens = count(answer.inputTextTokenCount);
  return {
    object: 'list',
    data,
    model,
    ...(tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
  };
}

/** Cohere returns a list, or lists by type if the request named types. */
function vectorsOf({ embedding, embeddings: bedrockEmbeddings }: Json): number[][] {
  if (Array.isArray(embedding)) return [numbers(embedding)];
  const vectors = isObject(bedrockEmbeddings) ? bedrockEmbeddings.float : bedrockEmbeddings;
  return list(vectors).map((vector) => numbers(list(vector)));
}

const numbers = (values: readonly unknown[]): number[] => values.filter((value) => typeof value === 'number');

/** Bedrock reports the tokens that it bills. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html */
function usageIn(header: HeaderOf): Json | null {
  const tokens = count(Number(header('x-amzn-bedrock-input-token-count') ?? Number.NaN));
  return tokens === null ? null : { prompt_tokens: tokens, total_tokens: tokens };
}

/** The hub's embeddings by InvokeModel. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html */
export const bedrockEmbeddings: Translator = {
  request,
  answer: fromBedrockEmbeddings,
  usageIn,
  error: bedrockError,
};
