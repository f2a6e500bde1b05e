import { bearer, inHeader } from '../auth-scheme.js';
import { jina, voyage } from '../dialects/rerankers/index.js';
import type { Price } from '../prices/price.js';
import type { Provider } from '../provider.js';
import { passedThrough } from './compatible.js';

/** Read on 2026-11-20 in the data of LiteLLM 1.110.2, which names https://api.jina.ai/v1/models. */
const JINA_RERANKERS = ['jina-reranker-v3.5', 'jina-reranker-m0', 'jina-reranker-v2-base-multilingual'];
/** Nano-dollars per million tokens. */
const JINA_RERANK: Price = {
  input: 50_000_000,
  output: 0,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};

/** Building blocks of search: embeddings, reranking, vector databases. */
export const embeddingsAndRerank: readonly Provider[] = [
  {
    id: 'jina',
    name: 'Jina AI',
    baseUrl: 'https://api.jina.ai/v1',
    dialect: jina,
    auth: bearer,
    // Embeddings are similar to OpenAI's format, but unknown parameters are refused: the dialect renames and drops them.
    endpoints: ['rerank'],
    pricesId: null,
    prices: new Map(JINA_RERANKERS.map((model) => [model, JINA_RERANK])),
    source: 'https://api.jina.ai/redoc',
  },
  {
    id: 'voyage',
    name: 'Voyage AI',
    baseUrl: 'https://api.voyageai.com/v1',
    dialect: voyage,
    auth: bearer,
    endpoints: [],
    pricesId: 'voyageai',
    source: 'https://docs.voyageai.com/reference/embeddings-api',
  },
  passedThrough({
    id: 'nomic',
    name: 'Nomic Atlas',
    baseUrl: 'https://api-atlas.nomic.ai/v1',
    pricesId: null,
    source: 'https://docs.nomic.ai/reference/getting-started',
  }),
  passedThrough({
    id: 'pinecone',
    name: 'Pinecone',
    baseUrl: 'https://api.pinecone.io',
    auth: inHeader('api-key'),
    pricesId: null,
    source: 'https://docs.pinecone.io/reference/api/2026-07/inference/rerank-results.md',
  }),
  passedThrough({
    id: 'qdrant',
    name: 'Qdrant',
    baseUrl: null,
    auth: inHeader('api-key'),
    pricesId: null,
    source: 'https://qdrant.tech/documentation/security',
  }),
  passedThrough({
    id: 'milvus',
    name: 'Milvus',
    baseUrl: null,
    pricesId: null,
    source: 'https://milvus.io/api-reference/restful/v2.4.x/About.md',
  }),
];
