import { describe, expect, it } from 'vitest';
import type { Context } from '../../translation.js';
import { rerank } from './rerank.js';

const CONTEXT = {
  model: '@cf/baai/bge-reranker-base',
  fields: { 'workers-ai-account-id': '0123456789abcdef0123456789abcdef' },
} as unknown as Context;
const ANSWER = { result: { response: [{ id: 1, score: 0.9 }] }, success: true };

describe('a reranking at Workers AI', () => {
  it('has the documents of the hub as contexts, and results that refer to them', () => {
    const hub = { model: 'm', query: 'tides', documents: ['bread', { text: 'moon' }], top_n: 1 };

    expect(rerank.request(hub, CONTEXT).body).toEqual({
      query: 'tides',
      top_k: 1,
      contexts: [{ text: 'bread' }, { text: 'moon' }],
    });
    expect(rerank.answer?.(ANSWER, CONTEXT, hub)).toEqual({
      model: CONTEXT.model,
      results: [{ index: 1, relevance_score: 0.9 }],
    });
  });

  it('keeps the contexts and the response of a request in its own format', () => {
    const own = { model: 'm', query: 'tides', contexts: [{ text: 'moon' }], top_k: 1 };

    expect(rerank.request(own, CONTEXT).body).toEqual({
      query: 'tides',
      contexts: [{ text: 'moon' }],
      top_k: 1,
    });
    expect(rerank.answer?.(ANSWER, CONTEXT, own)).toBe(ANSWER);
  });
});
