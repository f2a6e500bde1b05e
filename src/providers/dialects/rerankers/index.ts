import type { Dialect } from '../../dialect.js';
import { jinaEmbeddings, voyageEmbeddings } from './embeddings.js';
import { voyageRerank } from './rerank.js';

/** Jina AI. The base URL is `https://api.jina.ai/v1`, where reranking has the client's format. */
export const jina: Dialect = {
  id: 'jina',
  translators: { embeddings: jinaEmbeddings },
};

/** Voyage AI. The base URL is `https://api.voyageai.com/v1`. */
export const voyage: Dialect = {
  id: 'voyage',
  translators: { embeddings: voyageEmbeddings, rerank: voyageRerank },
};
