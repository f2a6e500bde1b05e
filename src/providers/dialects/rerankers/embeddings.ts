import type { Json } from '../../endpoint.js';
import { count, isObject, list } from '../../endpoints/reading.js';
import type { Context, Translator } from '../../translation.js';
import { detailError } from './errors.js';
import { type FormatFields, ownFormat } from '../own-format.js';
import { unsupportedParameter } from '../refusing.js';

/** Differences to OpenAI's embeddings. Both providers refuse unknown parameters. */
interface Differences {
  readonly format: FormatFields;
  /** Parameters of the hub in the provider's format; all others are passed on. */
  readonly rename: ReadonlyMap<string, (value: unknown) => Json>;
}

const none = (): Json => ({});

/**
 * The kind is `embedding_type`, and the input a list; `task`, `late_chunking`, `truncate` and others are passed on.
 * https://api.jina.ai/redoc, https://github.com/jina-ai/meta-prompt/blob/main/v6.txt
 */
export const jinaEmbeddings: Translator = embeddings({
  format: {
    own: ['embedding_type', 'late_chunking', 'normalized', 'return_multivector', 'task', 'truncate'],
    hub: ['encoding_format', 'user'],
  },
  rename: new Map<string, (value: unknown) => Json>([
    ['input', (input) => ({ input: Array.isArray(input) ? (input as unknown) : [input] })],
    ['encoding_format', (embedding_type) => ({ embedding_type })],
    ['user', none],
  ]),
});

/**
 * Numbers are the default: the only `encoding_format` is `base64`. `input_type`, `truncation` and `output_dtype` are passed on.
 * https://docs.voyageai.com/reference/embeddings-api
 */
export const voyageEmbeddings: Translator = embeddings({
  format: {
    // Clients of OpenAI's format send `input_type`, too.
    own: ['output_dimension', 'output_dtype', 'truncation'],
    hub: ['dimensions', 'user'],
  },
  rename: new Map<string, (value: unknown) => Json>([
    ['encoding_format', (format) => (format === 'base64' ? { encoding_format: format } : {})],
    ['dimensions', (output_dimension) => ({ output_dimension })],
    ['user', none],
  ]),
});

function embeddings({ format, rename }: Differences): Translator {
  return {
    isOwnFormat: ownFormat(format),
    request(hub, { model }) {
      refuseTokens(hub.input);
      const parts = Object.entries(hub).map(
        ([name, value]) => rename.get(name)?.(value) ?? entry(name, value),
      );
      return { path: '/embeddings', body: { ...Object.fromEntries(parts.flatMap(Object.entries)), model } };
    },
    answer: embeddingsAnswer,
    error: detailError,
  };
}

const entry = (name: string, value: unknown): Json => Object.fromEntries([[name, value]]);

function refuseTokens(input: unknown): void {
  const items = list(input);
  const isTokens = items.some((item) => typeof item === 'number' || Array.isArray(item));
  if (isTokens) throw unsupportedParameter('input', 'this provider embeds text, not tokens');
}

function embeddingsAnswer({ data, model, usage }: Json, context: Context): Json {
  const reported = inputTokens(usage);
  return {
    object: 'list',
    data: list(data).flatMap(embeddingOf),
    model: typeof model === 'string' ? model : context.model,
    ...(reported !== null && { usage: { prompt_tokens: reported, total_tokens: reported } }),
  };
}

/** Voyage reports only the total, which has no output. */
export function inputTokens(usage: unknown): number | null {
  return isObject(usage) ? count(usage.total_tokens ?? usage.prompt_tokens) : null;
}

function embeddingOf(item: unknown, position: number): readonly Json[] {
  if (!isObject(item)) return [];
  const { embedding, index } = item;
  const isVector = Array.isArray(embedding) && embedding.every((value) => typeof value === 'number');
  if (!isVector && typeof embedding !== 'string') return [];
  return [{ object: 'embedding', index: count(index) ?? position, embedding }];
}
