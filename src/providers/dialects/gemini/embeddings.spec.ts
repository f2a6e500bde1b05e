import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import type { Context } from '../../translation.js';
import { aiStudioEmbeddings, fromGeminiEmbeddings, vertexEmbeddings } from './embeddings.js';

const contextFor = (model: string): Context => ({
  id: 'exchange-1',
  created: 1,
  model,
  isStreamed: false,
  fields: {},
  isStrict: true,
});

const context = contextFor('m');

describe('a request for embeddings', () => {
  it('of one text on AI Studio requests one', () => {
    const hub = {
      model: 'm',
      input: 'a',
      dimensions: 8,
      task_type: 'RETRIEVAL_QUERY',
      encoding_format: 'base64',
      user: 'u',
    };
    expect(aiStudioEmbeddings.request(hub, context)).toEqual({
      path: '/models/m:embedContent',
      body: {
        model: 'models/m',
        content: { parts: [{ text: 'a' }] },
        taskType: 'RETRIEVAL_QUERY',
        outputDimensionality: 8,
      },
    });
  });

  it('of a list with one text requests a list', () => {
    expect(aiStudioEmbeddings.request({ input: ['a'] }, context)).toEqual({
      path: '/models/m:batchEmbedContents',
      body: { requests: [{ model: 'models/m', content: { parts: [{ text: 'a' }] } }] },
    });
  });

  it('on Vertex AI requests predictions', () => {
    expect(
      vertexEmbeddings.request({ input: ['a', 'b'], dimensions: 8 }, contextFor('gemini-embedding-001')),
    ).toEqual({
      path: '/publishers/google/models/gemini-embedding-001:predict',
      body: { instances: [{ content: 'a' }, { content: 'b' }], parameters: { outputDimensionality: 8 } },
    });
  });

  it("on Vertex AI requests one at a time from Gemini's later models", () => {
    const later = contextFor('google/gemini-embedding-2');
    expect(vertexEmbeddings.request({ input: ['a'], dimensions: 8 }, later)).toEqual({
      path: '/publishers/google/models/gemini-embedding-2:embedContent',
      body: { content: { parts: [{ text: 'a' }] }, embedContentConfig: { outputDimensionality: 8 } },
    });
    expect(() => vertexEmbeddings.request({ input: ['a', 'b'] }, later)).toThrow('"input"');
  });

  it.each([[[1, 2]], [[[1, 2]]], [undefined], [null], [['a', 1]], [{ text: 'a' }]])(
    'refuses the input %j',
    (input) => {
      expect(() => aiStudioEmbeddings.request({ input }, context)).toThrow('"input"');
      expect(() => vertexEmbeddings.request({ input }, context)).toThrow('"input"');
    },
  );
});

describe('a response with embeddings', () => {
  it.each<[string, Json, readonly number[][], number | undefined]>([
    ['one', { embedding: { values: [1, 2] } }, [[1, 2]], undefined],
    ['several', { embeddings: [{ values: [1] }, { values: [2] }] }, [[1], [2]], undefined],
    [
      'one that tells its tokens',
      { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 5 } },
      [[1]],
      5,
    ],
    [
      'predictions',
      {
        predictions: [
          { embeddings: { values: [1], statistics: { token_count: 2 } } },
          { embeddings: { values: [3], statistics: { token_count: 4 } } },
        ],
      },
      [[1], [3]],
      6,
    ],
    [
      'predictions that tell only some tokens',
      {
        predictions: [
          { embeddings: { values: [1], statistics: { token_count: 2 } } },
          { embeddings: { values: [3] } },
        ],
      },
      [[1], [3]],
      undefined,
    ],
    ['nothing', {}, [], undefined],
  ])('of %s', (_, answer, vectors, tokens) => {
    expect(fromGeminiEmbeddings(answer, context)).toEqual({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'm',
      ...(tokens !== undefined && { usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    });
  });

  it('is written in base64 on request', () => {
    const answer = fromGeminiEmbeddings({ embedding: { values: [0.5, -2] } }, context, {
      encoding_format: 'base64',
    });
    const [{ embedding }] = answer.data as [{ embedding: string }];
    const bytes = Buffer.from(embedding, 'base64');
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4), bytes.length]).toEqual([0.5, -2, 8]);
  });
});
