import { describe, expect, it } from 'vitest';
import { usageOfReportedBody } from './reported-usage.js';

describe('the usage that a response reports', () => {
  it.each([
    [
      'of OpenAI chat',
      { usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } } },
      { input_tokens: 10, output_tokens: 5, cached_input_tokens: 4 },
    ],
    [
      'of OpenAI responses, whose cached tokens are part of the input',
      {
        usage: {
          input_tokens: 1_000,
          input_tokens_details: { cached_tokens: 600 },
          output_tokens: 10,
          output_tokens_details: { reasoning_tokens: 4 },
        },
        output: [{ type: 'web_search_call' }, { type: 'message' }],
      },
      {
        input_tokens: 1_000,
        output_tokens: 10,
        cached_input_tokens: 600,
        reasoning_tokens: 4,
        web_searches: 1,
      },
    ],
    [
      'of OpenAI images',
      {
        usage: {
          input_tokens: 50,
          input_tokens_details: { text_tokens: 10, image_tokens: 40 },
          output_tokens: 200,
          total_tokens: 250,
        },
      },
      { input_tokens: 50, output_tokens: 200, image_input_tokens: 40 },
    ],
    [
      'of OpenAI transcriptions by token',
      {
        text: 'Hello',
        usage: {
          type: 'tokens',
          input_tokens: 14,
          input_token_details: { text_tokens: 0, audio_tokens: 14 },
          output_tokens: 3,
        },
      },
      { input_tokens: 14, output_tokens: 3, audio_input_tokens: 14 },
    ],
    [
      'of OpenAI transcriptions by the second',
      { text: 'Hello', usage: { type: 'duration', seconds: 3 } },
      { input_tokens: 0, output_tokens: 0, audio_input_ms: 3_000 },
    ],
    [
      'of embeddings, which have no output',
      { data: [], usage: { prompt_tokens: 800, total_tokens: 800 } },
      { input_tokens: 800, output_tokens: 0 },
    ],
    [
      'of embeddings and rerankers that report a total only',
      { data: [], usage: { total_tokens: 31 } },
      { input_tokens: 31, output_tokens: 0 },
    ],
    [
      'of Anthropic, whose cached tokens are beside the input',
      {
        usage: {
          input_tokens: 10,
          cache_read_input_tokens: 600,
          cache_creation_input_tokens: 20,
          output_tokens: 5,
          output_tokens_details: { thinking_tokens: 2 },
        },
      },
      {
        input_tokens: 630,
        output_tokens: 5,
        cached_input_tokens: 600,
        cache_write_tokens: 20,
        reasoning_tokens: 2,
      },
    ],
    [
      'of Bedrock',
      { usage: { inputTokens: 10, cacheReadInputTokens: 90, outputTokens: 5, totalTokens: 105 } },
      { input_tokens: 100, output_tokens: 5, cached_input_tokens: 90 },
    ],
    [
      'of Cohere',
      { usage: { billed_units: { input_tokens: 7, output_tokens: 3 }, tokens: { input_tokens: 70 } } },
      { input_tokens: 7, output_tokens: 3 },
    ],
    [
      'of Google',
      { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 2 } },
      { input_tokens: 9, output_tokens: 6, reasoning_tokens: 2 },
    ],
  ])('%s is read', (_, answer, usage) => {
    expect(usageOfReportedBody(answer)).toEqual(usage);
  });

  it.each([
    ['none', {}],
    ['text', { usage: 'much' }],
    ['a chat answer without its output', { choices: [], usage: { prompt_tokens: 8, total_tokens: 8 } }],
    ['a total that exceeds the input', { usage: { prompt_tokens: 8, total_tokens: 12 } }],
    ['half of a chat answer', { usage: { prompt_tokens: 8, completion_tokens: -1 } }],
    ['half of a response', { usage: { input_tokens: 8, input_tokens_details: {} } }],
  ])('is unknown, never half of it, where there is %s', (_, answer) => {
    expect(usageOfReportedBody(answer)).toBeNull();
  });
});
