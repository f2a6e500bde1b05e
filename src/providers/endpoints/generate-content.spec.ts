import { describe, expect, it } from 'vitest';
import type { Usage } from '../../common/contracts/usage.js';
import { generateContentUsage as reader } from './generate-content.js';

const usage = (usageMetadata: unknown, known: Usage | null = null) =>
  reader.fromAnswer({ usageMetadata }, known);

describe("the service tier of Google's responses", () => {
  it.each([
    [{ serviceTier: 'flex' }, 'flex'],
    [{ trafficType: 'ON_DEMAND_PRIORITY' }, 'ON_DEMAND_PRIORITY'],
    [{ serviceTier: 7 }, null],
    [null, null],
  ])('of %j is %s', (usageMetadata, tier) => {
    expect(reader.tierOf?.({ usageMetadata })).toBe(tier);
  });
});

describe("the usage of Google's responses", () => {
  it('has prompt and tools as input, and candidates and thoughts as output', () => {
    expect(
      usage({
        promptTokenCount: 1000,
        cachedContentTokenCount: 900,
        candidatesTokenCount: 71,
        toolUsePromptTokenCount: 65,
        thoughtsTokenCount: 89,
        totalTokenCount: 1225,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 700 },
          { modality: 'AUDIO', tokenCount: 300 },
        ],
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 11 }],
      }),
    ).toEqual({
      input_tokens: 1065,
      output_tokens: 160,
      cached_input_tokens: 900,
      reasoning_tokens: 89,
      audio_input_tokens: 300,
      audio_output_tokens: 11,
    });
  });

  it('counts thoughts once where the total shows that the candidates contain them', () => {
    const metadata = { promptTokenCount: 10, candidatesTokenCount: 100, thoughtsTokenCount: 60 };

    expect(usage({ ...metadata, totalTokenCount: 110 })).toMatchObject({
      output_tokens: 100,
      reasoning_tokens: 60,
    });
    expect(usage({ ...metadata, totalTokenCount: 170 })).toMatchObject({
      output_tokens: 160,
      reasoning_tokens: 60,
    });
  });

  it('has no output where the prompt was refused', () => {
    expect(usage({ promptTokenCount: 12, totalTokenCount: 12 })).toEqual({
      input_tokens: 12,
      output_tokens: 0,
    });
  });

  it('is that of the last event of a stream, whose counts are totals', () => {
    const events = [
      { promptTokenCount: 2, totalTokenCount: 2 },
      { promptTokenCount: 2, candidatesTokenCount: 5, thoughtsTokenCount: 30 },
      { promptTokenCount: 1, candidatesTokenCount: 10, thoughtsTokenCount: 30 },
    ];

    expect(events.reduce<Usage | null>((known, event) => usage(event, known), null)).toEqual({
      input_tokens: 1,
      output_tokens: 40,
      reasoning_tokens: 30,
    });
  });

  it('keeps what an event leaves out', () => {
    const known = usage({ promptTokenCount: 9, candidatesTokenCount: 5, thoughtsTokenCount: 30 });

    expect(usage({ candidatesTokenCount: 7 }, known)).toEqual({
      input_tokens: 9,
      output_tokens: 37,
      reasoning_tokens: 30,
    });
    expect(usage({ promptTokenCount: 9 }, known)).toEqual(known);
  });

  it('is unknown when no prompt is reported', () => {
    for (const raw of [undefined, null, 'x', [], {}, { promptTokenCount: 0 }, { candidatesTokenCount: 4 }])
      expect(usage(raw)).toBeNull();
  });

  it('is unknown for a count of tokens, which is free', () => {
    const counted = { totalTokens: 31, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 31 }] };

    expect(reader.fromAnswer(counted)).toBeNull();
    expect(reader.outputText(counted)).toBe('');
  });

  it.each([-1, 1e30, 0.5, '12', {}])('is unknown when a total is %s', (hostile) => {
    expect(usage({ promptTokenCount: hostile, candidatesTokenCount: 1 })).toBeNull();
    expect(usage({ promptTokenCount: 1, candidatesTokenCount: hostile })).toBeNull();
  });
});

describe("the text of Google's requests and responses", () => {
  it('is its thoughts, text and calls', () => {
    const parts = [
      { text: 'Hm. ', thought: true },
      { text: 'Hi' },
      { functionCall: { name: 'look', args: { a: 1 } } },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ];

    expect(reader.outputText({ candidates: [{ content: { parts } }] })).toBe('Hm. Hilook{"a":1}print(1)');
    expect(reader.modelOf({ modelVersion: 'gemini-2.5-pro' })).toBe('gemini-2.5-pro');
  });

  it('of a request is the system, all turns and the definitions of tools', () => {
    const tools = [{ functionDeclarations: [{ name: 'look' }] }];
    const request = {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'user', parts: [{ functionResponse: { name: 'look', response: { sky: 'blue' } } }] },
      ],
      tools,
    };

    expect(reader.inputText(request)).toBe(`Be brief.Hi\n{"sky":"blue"}\n${JSON.stringify(tools)}`);
  });
});
