import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import type { Context } from '../../translation.js';
import { fromGeminiChat } from './answer.js';

const context: Context = {
  id: 'exchange-1',
  created: 1,
  model: 'asked',
  isStreamed: false,
  fields: {},
  isStrict: true,
};

interface GeminiChoice {
  readonly message: Json;
  readonly finish_reason: unknown;
  readonly logprobs: unknown;
}

const answerOf = (candidate: Json, isStrict = true) =>
  fromGeminiChat({ candidates: [candidate] }, { ...context, isStrict }) as unknown as {
    choices: [GeminiChoice];
  };

const choiceOf = (candidate: Json, isStrict = true): GeminiChoice => answerOf(candidate, isStrict).choices[0];

const saying = (...parts: Json[]): Json => ({ content: { role: 'model', parts } });

describe('the service tier', () => {
  it.each([
    [{ serviceTier: 'standard' }, 'default'],
    [{ serviceTier: 'flex' }, 'flex'],
    [{ serviceTier: 'priority' }, 'priority'],
    [{ trafficType: 'ON_DEMAND' }, 'default'],
    [{ trafficType: 'ON_DEMAND_FLEX' }, 'flex'],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, 'priority'],
  ])('of %j is %s', (usageMetadata, service_tier) => {
    expect(fromGeminiChat({ usageMetadata }, context)).toMatchObject({ service_tier });
  });

  it.each([{ trafficType: 'PROVISIONED_THROUGHPUT' }, { serviceTier: 7 }, {}, null])(
    'is not named where OpenAI has none for %j',
    (usageMetadata) => {
      expect(fromGeminiChat({ usageMetadata }, context)).not.toHaveProperty('service_tier');
    },
  );
});

describe('the reason to stop', () => {
  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_RECITATION', 'content_filter'],
    ['IMAGE_OTHER', 'stop'],
    ['NO_IMAGE', 'stop'],
    ['OTHER', 'stop'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
    ['UNEXPECTED_TOOL_CALL', 'stop'],
    ['TOO_MANY_TOOL_CALLS', 'stop'],
    ['MISSING_THOUGHT_SIGNATURE', 'stop'],
    ['FINISH_REASON_UNSPECIFIED', 'stop'],
    ['SOMETHING_NEW', 'stop'],
  ])('%s is %s', (finishReason, expected) => {
    expect(choiceOf({ ...saying({ text: 'a' }), finishReason }).finish_reason).toBe(expected);
  });

  it('is in a field of its own beside, when not strict', () => {
    const candidate = { ...saying({ text: 'a' }), finishReason: 'NO_IMAGE', avgLogprobs: -0.1 };
    expect(choiceOf(candidate, false)).toMatchObject({ native_finish_reason: 'NO_IMAGE', avgLogprobs: -0.1 });
    expect(choiceOf(candidate)).not.toHaveProperty('native_finish_reason');
    expect(choiceOf(candidate)).not.toHaveProperty('avgLogprobs');
  });

  it('is the length even after a call, when the response was cut', () => {
    const candidate = { ...saying({ functionCall: { name: 'f' } }), finishReason: 'MAX_TOKENS' };
    expect(choiceOf(candidate).finish_reason).toBe('length');
  });
});

describe('the message', () => {
  it('explains an empty response with the reason of the provider', () => {
    const { message } = choiceOf({ finishReason: 'SAFETY', finishMessage: 'Unsafe.' });
    expect(message).toEqual({ role: 'assistant', content: null, refusal: 'Unsafe.' });
  });

  it('is empty without text or a reason', () => {
    expect(choiceOf({ finishReason: 'STOP' }).message).toEqual({
      role: 'assistant',
      content: '',
      refusal: null,
    });
  });

  it('separates thoughts, drafts among them, from the text', () => {
    const png = { mimeType: 'image/png', data: 'AA' };
    const { message } = choiceOf(
      saying({ text: 'hm', thought: true }, { inlineData: png, thought: true }, { text: 'a' }, { text: 'b' }),
    );
    expect(message).toEqual({ role: 'assistant', content: 'ab', refusal: null, reasoning_content: 'hm' });
  });

  it('has thoughts and text in order as blocks, when not strict', () => {
    const { message } = choiceOf(
      saying(
        { text: 'h', thought: true },
        { text: 'm', thought: true },
        { text: 'a' },
        { text: 'x', thought: true },
      ),
      false,
    );
    expect(message.content_blocks).toEqual([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'a' },
      { type: 'thinking', thinking: 'x' },
    ]);
  });

  it('carries speech as one piece', () => {
    const parts = ['AAA=', 'AQI='].map((data) => ({
      inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data },
    }));
    expect(choiceOf(saying(...parts)).message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      audio: { id: 'exchange-1', data: 'AAABAg==', transcript: '', expires_at: 1 },
    });
  });

  it('lists recited sources when not strict, whichever service names them', () => {
    const source = { startIndex: 1, uri: 'https://x.example' };
    for (const citationMetadata of [{ citationSources: [source] }, { citations: [source] }]) {
      const candidate = { ...saying({ text: 'a' }), citationMetadata };
      expect(choiceOf(candidate, false).message.citations).toEqual([source]);
      expect(choiceOf(candidate).message).not.toHaveProperty('citations');
    }
  });

  it('has as many choices as there are candidates', () => {
    const candidates = [saying({ text: 'a' }), { ...saying({ text: 'b' }), index: 5 }];
    expect(fromGeminiChat({ candidates }, context).choices).toMatchObject([
      { index: 0, message: { content: 'a' } },
      { index: 5, message: { content: 'b' } },
    ]);
  });
});

describe('a call', () => {
  it('has its whole arguments, however deeply they are nested', () => {
    const given = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const args = JSON.parse(given) as Json;
    expect(choiceOf(saying({ functionCall: { name: 'f', args } })).message.tool_calls).toEqual([
      { id: 'call_exchange1_0', type: 'function', function: { name: 'f', arguments: given } },
    ]);
  });

  it('has its own id, or else one that no other request gives, as short as OpenAI takes it', () => {
    const idOf = (functionCall: Json, id: string): string => {
      const candidates = [saying({ functionCall })];
      const { choices } = fromGeminiChat({ candidates }, { ...context, id }) as unknown as {
        choices: [{ message: { tool_calls: [{ id: string }] } }];
      };
      return choices[0].message.tool_calls[0].id;
    };
    const name = 'get_the_weather_of_a_place_whose_name_is_long';
    const turns = ['01a207cc-97be-761c-afb3-6d714b02fa24', '01a207cc-98fa-75bd-80de-20a92e3a887a'];

    expect(idOf({ id: 'own', name }, 'any')).toBe('own');
    const [first = '', second = ''] = turns.map((turn) => idOf({ name }, turn));
    expect(first).not.toBe(second);
    expect(first).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
  });

  it('without a name is none', () => {
    const { message } = choiceOf(
      saying({ functionCall: { args: {} } }, { functionCall: 'f' }, { text: 'a' }),
    );
    expect(message).toEqual({ role: 'assistant', content: 'a', refusal: null });
  });
});

describe('sources of a grounded response', () => {
  const groundingChunks = [
    { web: { uri: 'https://a.example', title: 'A' } },
    { retrievedContext: { uri: 'gs://b/c' } },
    { web: {} },
  ];
  const cite = (url: string, title: string, start_index: number, end_index: number) => ({
    type: 'url_citation',
    url_citation: { url, title, start_index, end_index },
  });

  it('are counted in characters, though Gemini counts bytes of each part', () => {
    const groundingMetadata = {
      groundingChunks,
      groundingSupports: [
        { segment: { startIndex: 3, endIndex: 7 }, groundingChunkIndices: [0, 2, 9, 'x'] },
        { segment: { partIndex: 2, startIndex: 0, endIndex: 3 }, groundingChunkIndices: [1] },
      ],
    };
    const parts = [{ text: '€ äö' }, { text: 'thought', thought: true }, { text: 'end' }];
    // Bytes: € has three, ä and ö two; the second part begins at byte 8, which is character 4.
    expect(choiceOf({ ...saying(...parts), groundingMetadata }).message.annotations).toEqual([
      cite('https://a.example', 'A', 1, 4),
      cite('gs://b/c', '', 4, 7),
    ]);
  });

  it('belong to the whole text when no segment is given', () => {
    const candidate = { ...saying({ text: 'abc' }), groundingMetadata: { groundingChunks } };
    expect(choiceOf(candidate).message.annotations).toEqual([
      cite('https://a.example', 'A', 0, 3),
      cite('gs://b/c', '', 0, 3),
    ]);
  });
});

describe('probabilities of tokens', () => {
  it('appear beside their alternatives', () => {
    const logprobsResult = {
      chosenCandidates: [
        { token: 'é', tokenId: 1, logProbability: -0.1 },
        { token: 'b', logProbability: -0.2 },
        { token: 3 },
      ],
      topCandidates: [
        {
          candidates: [
            { token: 'é', logProbability: -0.1 },
            { token: 'c', logProbability: -3 },
          ],
        },
      ],
    };
    expect(choiceOf({ ...saying({ text: 'éb' }), logprobsResult }).logprobs).toEqual({
      refusal: null,
      content: [
        {
          token: 'é',
          logprob: -0.1,
          bytes: [195, 169],
          top_logprobs: [
            { token: 'é', logprob: -0.1, bytes: [195, 169] },
            { token: 'c', logprob: -3, bytes: [99] },
          ],
        },
        { token: 'b', logprob: -0.2, bytes: [98], top_logprobs: [] },
      ],
    });
  });
});

describe('usage', () => {
  const usageOf = (usageMetadata: unknown) => fromGeminiChat({ usageMetadata }, context).usage;

  it('adds thoughts to the output and what tools read to the prompt', () => {
    expect(
      usageOf({
        promptTokenCount: 10,
        toolUsePromptTokenCount: 5,
        candidatesTokenCount: 7,
        thoughtsTokenCount: 20,
        cachedContentTokenCount: 4,
        totalTokenCount: 42,
        promptTokensDetails: [
          { modality: 'AUDIO', tokenCount: 3 },
          { modality: 'TEXT', tokenCount: 7 },
        ],
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 2 }],
      }),
    ).toEqual({
      prompt_tokens: 15,
      completion_tokens: 27,
      total_tokens: 42,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 2 },
    });
  });

  it('adds thoughts only once where the total shows them inside', () => {
    const metadata = {
      promptTokenCount: 10,
      candidatesTokenCount: 30,
      thoughtsTokenCount: 20,
      totalTokenCount: 40,
    };
    expect(usageOf(metadata)).toMatchObject({ completion_tokens: 30, total_tokens: 40 });
  });

  it.each([[undefined], [null], ['x'], [{}], [{ promptTokenCount: -1 }], [{ promptTokenCount: 1.5 }]])(
    'is left out where it is %j',
    (metadata) => {
      expect(fromGeminiChat({ usageMetadata: metadata }, context)).not.toHaveProperty('usage');
    },
  );
});
