import { AppError } from '../../../common/errors/app-error.js';
import type { Json } from '../../endpoint.js';
import { isObject, list } from '../../endpoints/reading.js';
import type { Context, ProviderRequest, Translator } from '../../translation.js';
import { cohereError } from './errors.js';
import { unsupportedParameter } from '../refusing.js';
import { base64Floats } from '../vectors.js';
import { inputUsage } from './usage.js';

/** Models since v3 require the input's purpose, which the hub does not have: embedded texts are mostly stored. */
const INPUT_TYPE = 'search_document';

/**
 * https://docs.cohere.com/reference/embed. `input_type`, `truncate`, `images` and Cohere's other parameters are passed on. The page does
 * not specify the format of its base64; OpenAI's clients expect 32-bit floats, little-endian. So numbers are requested, and encoded here.
 */
export const cohereEmbeddings: Translator = {
  request: embedRequest,
  answer: embedAnswer,
  error: cohereError,
};

/** Parameters that Cohere has under another name or, like `user`, not at all. */
const READ: ReadonlySet<string> = new Set(['input', 'encoding_format', 'dimensions', 'user']);

function embedRequest(hub: Json, { model }: Context): ProviderRequest {
  const { input, dimensions, embedding_types, input_type } = hub;
  const body = {
    ...Object.fromEntries(Object.entries(hub).filter(([name]) => !READ.has(name))),
    model,
    ...(input !== undefined && { texts: textsOf(input) }),
    input_type: input_type ?? INPUT_TYPE,
    embedding_types: embedding_types ?? ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
  };
  return { path: '/v2/embed', body };
}

function textsOf(input: unknown): readonly string[] {
  const texts = Array.isArray(input) ? (input as readonly unknown[]) : [input];
  if (texts.every((text) => typeof text === 'string')) return texts;
  if (texts.every((text) => typeof text === 'number' || Array.isArray(text)))
    throw unsupportedParameter('input', 'Cohere embeds text, not tokens');
  throw new AppError('invalid_request', { detail: '"input" must be a string or a list of strings' });
}

/** Kinds of embeddings, the hub's first. */
const KINDS = ['float', 'base64', 'int8', 'uint8', 'binary', 'ubinary'] as const;

function embedAnswer({ embeddings, meta }: Json, { model }: Context, hub: Json): Json {
  const byKind = isObject(embeddings) ? embeddings : {};
  const kind = KINDS.find((name) => list(byKind[name]).length > 0);
  const usage = inputUsage(meta);
  const isEncoded = kind === 'float' && hub.encoding_format === 'base64';
  return {
    object: 'list',
    data: kind ? list(byKind[kind]).flatMap((vector, index) => embeddingOf(vector, index, isEncoded)) : [],
    model,
    ...(usage && { usage }),
  };
}

function embeddingOf(embedding: unknown, index: number, isEncoded: boolean): readonly Json[] {
  if (typeof embedding === 'string') return [{ object: 'embedding', index, embedding }];
  if (!isVector(embedding)) return [];
  return [{ object: 'embedding', index, embedding: isEncoded ? base64Floats(embedding) : embedding }];
}

const isVector = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number');
