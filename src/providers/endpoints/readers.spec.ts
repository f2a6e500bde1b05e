import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../common/contracts/usage.js';
import type { Json } from '../endpoint.js';
import { completionsUsage } from './completions.js';
import { embedContentUsage, embeddingsUsage, rerankUsage } from './embeddings.js';
import { endpoints } from './index.js';
import { mediaUsage } from './media.js';
import { mostPages, ocrUsage } from './ocr.js';
import { realtimeUsage } from './realtime.js';

/** Members with text below which readers look for more. */
const DEEP_MEMBERS = ['content', 'parts', 'text'];

describe('completions', () => {
  it('have the usage of chat, and the text of each choice', () => {
    const answer = {
      model: 'gpt-3.5-turbo-instruct',
      choices: [{ text: 'one' }, { text: 'two' }],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    };

    expect(completionsUsage.fromAnswer(answer)).toEqual({ input_tokens: 5, output_tokens: 7 });
    expect(completionsUsage.outputText(answer)).toBe('onetwo');
    expect(completionsUsage.modelOf(answer)).toBe('gpt-3.5-turbo-instruct');
  });

  it.each([
    ['Say hi', 'Say hi'],
    [['a', 'b'], 'ab'],
    [[1, 2, 3], ''],
    [[[1, 2], [3]], ''],
    [undefined, ''],
  ])('count the prompt %j as %j', (prompt, text) => {
    expect(completionsUsage.inputText({ prompt })).toBe(text);
  });
});

describe('embeddings', () => {
  it.each([
    ['OpenAI', { prompt_tokens: 8, total_tokens: 8 }, 8],
    ['Voyage', { total_tokens: 10 }, 10],
    ['nobody', {}, null],
    ['nobody', null, null],
    ['a liar', { prompt_tokens: '8' }, null],
  ])('have the input that %s reports', (_, usage, tokens) => {
    expect(embeddingsUsage.fromAnswer({ usage })?.input_tokens ?? null).toBe(tokens);
  });

  it('put nothing out', () => {
    expect(embeddingsUsage.fromAnswer({ usage: { prompt_tokens: 8 } })).toEqual({
      input_tokens: 8,
      output_tokens: 0,
    });
    expect(embeddingsUsage.outputText({ data: [{ embedding: [0.1] }] })).toBe('');
    expect(embeddingsUsage.inputText({ input: ['a', 'b'] })).toBe('ab');
  });

  it("of Google's own format have usage where the model reports it", () => {
    const usageMetadata = { promptTokenCount: 9, promptTokenDetails: [{ modality: 'AUDIO', tokenCount: 4 }] };

    expect(embedContentUsage.fromAnswer({ embedding: {}, usageMetadata })).toEqual({
      input_tokens: 9,
      output_tokens: 0,
      audio_input_tokens: 4,
    });
    expect(embedContentUsage.fromAnswer({ embedding: { values: [0.1] } })).toBeNull();
    expect(embedContentUsage.inputText({ content: { parts: [{ text: 'a' }] } })).toBe('a');
    expect(
      embedContentUsage.inputText({
        requests: [{ content: { parts: [{ text: 'a' }] } }, null, { content: 1 }],
      }),
    ).toBe('a');
  });
});

describe('rerankings', () => {
  it.each([
    ['Jina', { usage: { total_tokens: 815 } }, { input_tokens: 815, output_tokens: 0 }],
    ['Voyage', { object: 'list', usage: { total_tokens: 26 } }, { input_tokens: 26, output_tokens: 0 }],
    [
      'Cohere',
      { meta: { billed_units: { search_units: 2 } } },
      { input_tokens: 0, output_tokens: 0, search_units: 2 },
    ],
    [
      'Cohere, with searches and tokens',
      { meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: 30, output_tokens: 0 } } },
      { input_tokens: 30, output_tokens: 0, search_units: 1 },
    ],
    [
      "a host of Cohere's shape that bills tokens",
      { meta: { billed_units: { search_units: 1, input_tokens: 30 }, tokens: { input_tokens: 30 } } },
      { input_tokens: 30, output_tokens: 0 },
    ],
    ['a broken count', { meta: { billed_units: { search_units: -1 } } }, null],
    [
      'Cohere, with tokens',
      { meta: { tokens: { input_tokens: 30, output_tokens: 2 } } },
      { input_tokens: 30, output_tokens: 2 },
    ],
    ['nobody', { results: [] }, null],
  ])('have the usage that %s reports', (_, answer, usage) => {
    expect(rerankUsage.fromAnswer(answer)).toEqual(usage);
  });

  it('have query and documents as input', () => {
    expect(rerankUsage.inputText({ query: 'q', documents: ['a', { text: 'b' }] })).toBe('qab');
  });
});

describe('images and transcriptions', () => {
  it('have the tokens of an image', () => {
    const usage = {
      input_tokens: 50,
      output_tokens: 4160,
      total_tokens: 4210,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
    };

    const read = { input_tokens: 50, output_tokens: 4160, image_input_tokens: 40 };
    expect(mediaUsage.fromAnswer({ data: [], usage })).toEqual(read);
    expect(mediaUsage.fromAnswer({ type: 'image_generation.completed', usage })).toEqual(read);
  });

  it('have the tokens of a transcription, of which some are audio', () => {
    const usage = {
      type: 'tokens',
      input_tokens: 14,
      input_token_details: { text_tokens: 4, audio_tokens: 10 },
      output_tokens: 45,
      total_tokens: 59,
    };

    expect(mediaUsage.fromAnswer({ text: 'Imagine', usage })).toEqual({
      input_tokens: 14,
      output_tokens: 45,
      audio_input_tokens: 10,
    });
  });

  it('have seconds and no tokens where seconds are charged', () => {
    const told = (seconds: unknown) =>
      mediaUsage.fromAnswer({ text: 'x', usage: { type: 'duration', seconds } });
    expect(told(9.5)).toEqual({ input_tokens: 0, output_tokens: 0, audio_input_ms: 9_500 });
    for (const odd of [-1, 'x', null, Number.NaN, 1e300]) expect(told(odd)).toBeNull();
  });
});

describe('transcripts', () => {
  it('of Mistral have tokens, and the length of the sound that is charged', () => {
    const usage = { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3264, completion_tokens: 635 };

    expect(mediaUsage.fromAnswer({ model: 'voxtral-mini-2602', text: 'x', usage })).toEqual({
      input_tokens: 4,
      output_tokens: 635,
      audio_input_ms: 203_000,
    });
  });

  it('have the length of verbose responses when no usage is reported', () => {
    const verbose = { task: 'transcribe', language: 'English', duration: 8.47, text: 'Hi', segments: [] };
    const usage = { type: 'duration', seconds: 9 };

    expect(mediaUsage.fromAnswer(verbose)).toEqual({
      input_tokens: 0,
      output_tokens: 0,
      audio_input_ms: 8_470,
    });
    expect(mediaUsage.fromAnswer({ ...verbose, usage })).toMatchObject({ audio_input_ms: 9_000 });
    for (const duration of [undefined, null, '8.47', -1])
      expect(mediaUsage.fromAnswer({ ...verbose, duration })).toBeNull();
    expect(mediaUsage.fromAnswer({ data: [], duration: 8.47 })).toBeNull();
  });
});

describe('documents that were read', () => {
  const page = { index: 0, markdown: '# Tides', images: [{ id: 'img-0', image_annotation: null }] };
  const answer = { pages: [page, page], model: 'mistral-ocr-2512', usage_info: { pages_processed: 2 } };
  const none = { input_tokens: 0, output_tokens: 0 };
  const plain = { ...none, document_pages: 2 };
  const annotated = { ...plain, annotated_pages: 2 };
  const schema = { type: 'json_schema', json_schema: { name: 'a', schema: {} } };
  const askedBy = (request: Json) => ocrUsage.askedBy?.(request) ?? ocrUsage;

  it('have pages and no tokens', () => {
    expect(ocrUsage.fromAnswer(answer)).toEqual(plain);
    expect(askedBy({ document_annotation_format: null }).fromAnswer(answer)).toEqual(plain);
    expect(ocrUsage.modelOf(answer)).toBe('mistral-ocr-2512');
    for (const pages of [undefined, null, '2', -1, 1.5])
      expect(ocrUsage.fromAnswer({ ...answer, usage_info: { pages_processed: pages } })).toBeNull();
  });

  it('have annotated pages when annotations were requested, with or without an image to annotate', () => {
    for (const request of [{ bbox_annotation_format: schema }, { document_annotation_format: schema }])
      expect(askedBy(request).fromAnswer({ ...answer, pages: [] })).toEqual(annotated);
  });

  it('have annotated pages when the response has annotations, whether requested or not', () => {
    const image = { id: 'img-0', image_annotation: '{"a":1}' };

    expect(ocrUsage.fromAnswer({ ...answer, document_annotation: '{"a":1}' })).toEqual(annotated);
    expect(ocrUsage.fromAnswer({ ...answer, pages: [page, { images: [image] }] })).toEqual(annotated);
  });

  it.each([
    [{}, 1000],
    [{ pages: [0, 4, 5] }, 3],
    [{ pages: '0,2-5' }, 5],
    [{ pages: '7' }, 1],
    [{ pages: '5-2' }, 1],
    [{ pages: '0-4999' }, 1000],
    [{ pages: 'all of them' }, 1000],
    [{ pages: '' }, 1000],
    [{ document: { type: 'image_url', image_url: 'https://example.com/a.png' } }, 1],
  ])('are no more than %j requests', (request, most) => {
    expect(mostPages(request)).toEqual({ ...none, document_pages: most });
  });

  it('may be annotated to the last page', () => {
    expect(mostPages({ pages: [1], bbox_annotation_format: schema })).toEqual({
      ...none,
      document_pages: 1,
      annotated_pages: 1,
    });
  });
});

describe('sessions', () => {
  const usage = { input_tokens: 10, output_tokens: 277, output_token_details: { audio_tokens: 258 } };
  const read = { input_tokens: 10, output_tokens: 277, audio_output_tokens: 258 };

  it('have the usage of a response in it, or beside it', () => {
    expect(realtimeUsage.fromAnswer({ type: 'response.done', response: { usage } })).toEqual(read);
    expect(realtimeUsage.fromAnswer({ type: 'response.done', response: { usage: {} }, usage })).toEqual(read);
    expect(realtimeUsage.fromAnswer({ type: 'session.updated', usage })).toBeNull();
  });
});

describe('every reader', () => {
  const names = [
    ...[
      'usage',
      'usageMetadata',
      'meta',
      'tokens',
      'message',
      'response',
      'delta',
      'content',
      'content_block',
    ],
    ...[
      'parts',
      'text',
      'output',
      'candidates',
      'choices',
      'type',
      'model',
      'modelVersion',
      'tools',
      'input',
    ],
    ...['input_tokens', 'output_tokens', 'total_tokens', 'prompt_tokens', 'promptTokenCount', 'modality'],
    ...['candidatesTokenCount', 'thoughtsTokenCount', 'toolUsePromptTokenCount', 'promptTokensDetails'],
    ...['cache_read_input_tokens', 'cache_creation_input_tokens', 'input_tokens_details', 'cached_tokens'],
    ...[
      'output_tokens_details',
      'reasoning_tokens',
      'tokenCount',
      'messages',
      'contents',
      'requests',
      '__proto__',
    ],
  ];
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.jsonValue(),
      fc.double(),
      fc.nat(),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
  })).object as fc.Arbitrary<Json>;
  const isSound = (usage: Usage): boolean =>
    Object.values(usage).every((tokens) => Number.isSafeInteger(tokens) && tokens >= 0);

  it.each(endpoints.filter(({ usage }) => usage))(
    'of $id never throws, and reads only sound numbers',
    ({ usage }) => {
      if (!usage) return;
      fc.assert(
        fc.property(anything, anything, (first, second) => {
          const known = usage.fromAnswer(first);
          const last = usage.fromAnswer(second, known);
          for (const read of [known, last]) {
            if (!read) continue;
            expect(isSound(read)).toBe(true);
            expect(read.cached_input_tokens ?? 0).toBeLessThanOrEqual(read.input_tokens);
            expect(read.reasoning_tokens ?? 0).toBeLessThanOrEqual(read.output_tokens);
          }
          expect(typeof usage.outputText(first)).toBe('string');
          expect(typeof usage.inputText(first)).toBe('string');
          expect(['string', 'object']).toContain(typeof usage.modelOf(first));
        }),
      );
    },
  );

  it.each(endpoints.filter(({ usage }) => usage))(
    'of $id reads text that is nested without end',
    ({ usage }) => {
      // A tree, as parsed JSON is: an object that occurs several times would double the text at each level.
      let deep: unknown = 'x';
      for (let level = 0; level < 5000; level++)
        deep = level % 2 ? [deep] : { [DEEP_MEMBERS[(level / 2) % DEEP_MEMBERS.length] as string]: deep };
      const request = {
        messages: [{ content: deep }],
        contents: deep,
        input: deep,
        prompt: deep,
        documents: deep,
      };

      expect(typeof usage?.inputText({ ...request, tools: deep, content: deep })).toBe('string');
      expect(typeof usage?.outputText({ content: deep, output: deep, choices: deep, candidates: deep })).toBe(
        'string',
      );
    },
  );
});
