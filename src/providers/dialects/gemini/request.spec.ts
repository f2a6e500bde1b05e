import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import type { Context } from '../../translation.js';
import { AppError } from '../../../common/errors/app-error.js';
import { aiStudio, vertexAi } from './host.js';
import { vertex } from './index.js';
import { chatRequest } from './request.js';

const FLASH = 'gemini-2.5-flash';
const THREE = 'gemini-3.1-pro-preview';

const contextFor = (model: string, isStreamed = false): Context => ({
  id: 'exchange-1',
  created: 1,
  model,
  isStreamed,
  fields: {},
  isStrict: true,
});

const bodyOf = (hub: Json, model = FLASH, host = aiStudio): Json =>
  chatRequest({ messages: [{ role: 'user', content: 'hi' }], ...hub }, contextFor(model), host).body;

const contentsOf = (messages: readonly Json[], model = FLASH, host = aiStudio): unknown =>
  bodyOf({ messages }, model, host).contents;

const configOf = (hub: Json, model = FLASH): unknown => bodyOf(hub, model).generationConfig;

function refusedParameter(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error instanceof AppError && error.code === 'parameter_unsupported'
      ? error.details.parameter
      : error;
  }
  return 'nothing';
}

describe('the path', () => {
  it.each([
    ['gemini-2.5-flash', '/models/gemini-2.5-flash:generateContent'],
    ['models/gemini-2.5-flash', '/models/gemini-2.5-flash:generateContent'],
    ['tunedModels/mine-1', '/tunedModels/mine-1:generateContent'],
    ['a?b#c', '/models/a%3Fb%23c:generateContent'],
  ])('of %s on AI Studio', (model, path) => {
    expect(chatRequest({}, contextFor(model), aiStudio).path).toBe(path);
  });

  it.each([
    'gemini-2.5-flash',
    'google/gemini-2.5-flash',
    'google.gemini-2.5-flash',
    'publishers/google/models/gemini-2.5-flash',
  ])('of %s on Vertex AI names the publisher', (model) => {
    expect(chatRequest({}, contextFor(model, true), vertexAi).path).toBe(
      '/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    );
  });

  it.each([
    'anthropic/claude-sonnet-4-5',
    'anthropic.claude-sonnet-4-5',
    'meta.llama-3',
    'endpoints.123',
    '',
    'google/..',
    'google/a//b',
  ])('is refused for "%s" on Vertex AI', (model) => {
    expect(refusedParameter(() => chatRequest({}, contextFor(model), vertexAi))).toBe('model');
  });

  it.each(['', '..', 'models/../files', 'models/'])('is refused for "%s" on AI Studio', (model) => {
    expect(refusedParameter(() => chatRequest({}, contextFor(model), aiStudio))).toBe('model');
  });
});

describe('the path of a native call on Vertex AI', () => {
  const fields = {};
  it.each([
    [
      '/models/gemini-2.5-flash:generateContent',
      '/publishers/google/models/gemini-2.5-flash:generateContent',
    ],
    ['/publishers/google/models/a:predict', '/publishers/google/models/a:predict'],
  ])('%s is %s', (path, expected) => {
    expect(vertex.pathOf?.({ endpoint: 'generate-content', path, model: '', fields })).toBe(expected);
  });
});

describe('the conversation', () => {
  it('merges turns of one side, and gathers what instructs', () => {
    const { contents, systemInstruction } = bodyOf({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'user', content: 'one' },
        { role: 'user', content: [{ type: 'text', text: 'two' }, 'three'] },
        { role: 'developer', content: 'B' },
        { role: 'assistant', content: 'four', refusal: 'five' },
        { role: 'user', content: '' },
        { role: 'assistant', content: null },
      ],
    });
    expect(systemInstruction).toEqual({ parts: [{ text: 'A' }, { text: 'B' }] });
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'one' }, { text: 'two' }, { text: 'three' }] },
      { role: 'model', parts: [{ text: 'four' }, { text: 'five' }] },
    ]);
  });

  it('sends the instruction as the prompt where there is no other', () => {
    const body = bodyOf({ messages: [{ role: 'system', content: 'Tell a joke.' }] });
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Tell a joke.' }] }] });
  });

  it('leaves out reasoning that others signed', () => {
    const content = [
      { type: 'thinking', thinking: 'hm', signature: 'theirs' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'text', text: 'yes' },
    ];
    expect(contentsOf([{ role: 'assistant', content }])).toEqual([
      { role: 'model', parts: [{ text: 'yes' }] },
    ]);
  });

  it('gives the signature of a text back with its last part', () => {
    const message = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      extra_content: { google: { thought_signature: 'sig' } },
    };
    expect(contentsOf([message])).toEqual([
      { role: 'model', parts: [{ text: 'a' }, { text: 'b', thoughtSignature: 'sig' }] },
    ]);
  });

  const png = 'data:image/png;base64,AAAA';
  it.each<[string, Json, Json]>([
    [
      'a data URL',
      { type: 'image_url', image_url: { url: png } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ],
    [
      'an image given as a string',
      { type: 'image_url', image_url: png },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ],
    [
      'a data URL that is no base64',
      { type: 'image_url', image_url: { url: 'data:text/plain,a%20b' } },
      { inlineData: { mimeType: 'text/plain', data: 'YSBi' } },
    ],
    [
      'an address with an ending',
      { type: 'image_url', image_url: { url: 'https://x.example/a.JPG?w=1' } },
      { fileData: { mimeType: 'image/jpeg', fileUri: 'https://x.example/a.JPG?w=1' } },
    ],
    [
      'an address with a type',
      { type: 'image_url', image_url: { url: 'https://x.example/a', mime_type: 'image/webp' } },
      { fileData: { mimeType: 'image/webp', fileUri: 'https://x.example/a' } },
    ],
    [
      'an object in Google Cloud Storage',
      { type: 'video_url', video_url: { url: 'gs://bucket/a.mp4' } },
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' } },
    ],
    [
      'sound',
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { inlineData: { mimeType: 'audio/mp3', data: 'AAAA' } },
    ],
    [
      'a document in base64',
      { type: 'file', file: { file_data: 'AAAA' } },
      { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
    ],
    [
      'a document with a name',
      { type: 'file', file: { file_data: 'AAAA', filename: 'a.csv' } },
      { inlineData: { mimeType: 'text/csv', data: 'AAAA' } },
    ],
    [
      'a document by its address',
      { type: 'file', file: { file_url: 'https://x.example/a.pdf' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'https://x.example/a.pdf' } },
    ],
  ])('takes in %s', (_, part, expected) => {
    for (const host of [aiStudio, vertexAi]) {
      expect(contentsOf([{ role: 'user', content: [part] }], FLASH, host)).toEqual([
        { role: 'user', parts: [expected] },
      ]);
    }
  });

  it('lets AI Studio find out the type behind an address, and requires it on Vertex AI', () => {
    const messages = [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.example/a' } }] },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: 'user', parts: [{ fileData: { fileUri: 'https://x.example/a' } }] },
    ]);
    expect(refusedParameter(() => contentsOf(messages, FLASH, vertexAi))).toBe('image_url');
  });

  it('names a file that was uploaded to AI Studio by its address', () => {
    const messages = [
      {
        role: 'user',
        content: [{ type: 'file', file: { file_id: 'files/abc-1', mime_type: 'text/plain' } }],
      },
    ];
    const fileUri = 'https://generativelanguage.googleapis.com/v1beta/files/abc-1';
    expect(contentsOf(messages)).toEqual([
      { role: 'user', parts: [{ fileData: { mimeType: 'text/plain', fileUri } }] },
    ]);
    expect(refusedParameter(() => contentsOf(messages, FLASH, vertexAi))).toBe('file_id');
  });

  it.each<[string, Json, string]>([
    ['a part of an unknown type', { type: 'hologram' }, 'messages.content'],
    ['a part that is named like a method', { type: 'constructor' }, 'messages.content'],
    ['a file of another provider', { type: 'file', file: { file_id: 'file-abc' } }, 'file_id'],
    ['a data URL without data', { type: 'image_url', image_url: { url: 'data:image/png' } }, 'image_url'],
    ['a data URL that is broken', { type: 'image_url', image_url: { url: 'data:,%E0%A4%A' } }, 'image_url'],
    ['an image in bare base64', { type: 'image_url', image_url: { url: 'AAAA' } }, 'image_url'],
  ])('refuses %s', (_, part, parameter) => {
    expect(refusedParameter(() => contentsOf([{ role: 'user', content: [part] }]))).toBe(parameter);
  });
});

describe('calls and their results', () => {
  const call = (id: string, name: string, args: unknown, signature?: string): Json => ({
    id,
    type: 'function',
    function: { name, arguments: args },
    ...(signature && { extra_content: { google: { thought_signature: signature } } }),
  });

  it.each<[string, unknown, Json]>([
    ['an object', '{"a":1}', { a: 1 }],
    ['nothing', '', {}],
    ['broken JSON', '{"a":', { arguments: '{"a":' }],
    ['a list', '[1]', { arguments: '[1]' }],
    ['an object that was not written as text', { a: 1 }, { a: 1 }],
  ])('keeps arguments that are %s', (_, args, expected) => {
    expect(contentsOf([{ role: 'assistant', tool_calls: [call('1', 'f', args)] }])).toEqual([
      { role: 'model', parts: [{ functionCall: { id: '1', name: 'f', args: expected } }] },
    ]);
  });

  it('replaces the signature of the first call of a step, for models that require one', () => {
    const messages = [
      { role: 'assistant', tool_calls: [call('1', 'f', '{}'), call('2', 'g', '{}')] },
      { role: 'tool', tool_call_id: '1', content: 'x' },
      { role: 'tool', tool_call_id: '2', content: 'y' },
      { role: 'assistant', tool_calls: [call('3', 'h', '{}', 'own')] },
    ];
    const signatures = (model: string) =>
      (contentsOf(messages, model) as { parts: Json[] }[]).flatMap(({ parts }) =>
        parts.map((part) => part.thoughtSignature),
      );
    expect(signatures(THREE)).toEqual([
      'skip_thought_signature_validator',
      undefined,
      undefined,
      undefined,
      'own',
    ]);
    expect(signatures('gemma-3-27b-it')).toEqual(signatures(FLASH));
    expect(signatures(FLASH)).toEqual([undefined, undefined, undefined, undefined, 'own']);
  });

  it('sends no ids to Vertex AI, and results in the order of the calls', () => {
    const messages = [
      { role: 'assistant', tool_calls: [call('1', 'f', '{}'), call('2', 'f', '{}')] },
      { role: 'tool', tool_call_id: '2', content: 'second' },
      { role: 'tool', tool_call_id: '1', content: [{ type: 'text', text: 'first' }] },
      { role: 'user', content: 'go on' },
    ];
    expect(contentsOf(messages, FLASH, vertexAi)).toEqual([
      {
        role: 'model',
        parts: [{ functionCall: { name: 'f', args: {} } }, { functionCall: { name: 'f', args: {} } }],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { output: 'first' } } },
          { functionResponse: { name: 'f', response: { output: 'second' } } },
          { text: 'go on' },
        ],
      },
    ]);
  });

  it("reads OpenAI's older way of calling, and custom tools of the past", () => {
    const messages = [
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'done' },
      { role: 'assistant', tool_calls: [{ id: '1', type: 'custom', custom: { name: 'g', input: 'raw' } }] },
    ];
    expect(contentsOf(messages)).toEqual([
      { role: 'model', parts: [{ functionCall: { id: 'f', name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'f', name: 'f', response: { output: 'done' } } }] },
      { role: 'model', parts: [{ functionCall: { id: '1', name: 'g', args: { input: 'raw' } } }] },
    ]);
  });

  it.each([
    ['inside the response for later models', THREE, true],
    ['beside it for earlier ones', FLASH, false],
  ])("puts a tool's image %s", (_, model, isNested) => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const content = [
      { type: 'text', text: 'a chart' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
    ];
    const response = {
      id: '1',
      name: '1',
      response: { output: 'a chart' },
      ...(isNested && { parts: [image] }),
    };
    expect(contentsOf([{ role: 'tool', tool_call_id: '1', content }], model)).toEqual([
      { role: 'user', parts: [{ functionResponse: response }, ...(isNested ? [] : [image])] },
    ]);
  });
});

describe('tools', () => {
  const declared = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
  const declarations = { functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] };

  it.each<[string, unknown, Json | undefined]>([
    ['nothing', undefined, undefined],
    ['auto', 'auto', { mode: 'AUTO' }],
    ['none', 'none', { mode: 'NONE' }],
    ['required', 'required', { mode: 'ANY' }],
    [
      'a function',
      { type: 'function', function: { name: 'f' } },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
    ['a function in the older way', { name: 'f' }, { mode: 'ANY', allowedFunctionNames: ['f'] }],
    [
      'one of some, or none',
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
    ],
    [
      'one of some',
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
  ])('choose %s', (_, tool_choice, config) => {
    const { tools, toolConfig } = bodyOf({ tools: [declared], tool_choice });
    expect(tools).toEqual([declarations]);
    expect(toolConfig).toEqual(config && { functionCallingConfig: config });
  });

  it('keep what else is configured of them', () => {
    const retrievalConfig = { latLng: { latitude: 1, longitude: 2 } };
    expect(
      bodyOf({ tools: [declared], tool_choice: 'auto', toolConfig: { retrievalConfig } }).toolConfig,
    ).toEqual({
      retrievalConfig,
      functionCallingConfig: { mode: 'AUTO' },
    });
  });

  it('need no choice where there are none', () => {
    expect(bodyOf({ tool_choice: 'auto', tools: [] })).toEqual(bodyOf({}));
  });

  it.each<[string, Json, Json]>([
    ['by type', { type: 'google_search' }, { googleSearch: {} }],
    [
      'by type, with settings',
      { type: 'google_maps', google_maps: { enable_widget: true } },
      { googleMaps: { enable_widget: true } },
    ],
    ['as Google writes them', { codeExecution: {} }, { codeExecution: {} }],
    [
      'as functions without a schema',
      { type: 'function', function: { name: 'url_context' } },
      { urlContext: {} },
    ],
    [
      'as functions with settings',
      { type: 'function', function: { name: 'googleSearch', parameters: { excludeDomains: ['a'] } } },
      { googleSearch: { excludeDomains: ['a'] } },
    ],
  ])("of Google's own are named %s", (_, tool, expected) => {
    expect(bodyOf({ tools: [tool, declared] }).tools).toEqual([declarations, expected]);
  });

  it('of the client may have the name of one of Google', () => {
    const own = {
      type: 'function',
      function: { name: 'code_execution', parameters: { type: 'object', properties: {} } },
    };
    expect(bodyOf({ tools: [own] }).tools).toEqual([
      {
        functionDeclarations: [
          { name: 'code_execution', parametersJsonSchema: { type: 'object', properties: {} } },
        ],
      },
    ]);
  });

  it('of the web, and functions of the older way, are tools too', () => {
    const { tools } = bodyOf({ functions: [{ name: 'f', description: 'd' }], web_search_options: {} });
    expect(tools).toEqual([
      { functionDeclarations: [{ name: 'f', description: 'd' }] },
      { googleSearch: {} },
    ]);
  });

  it.each<[string, Json, string]>([
    ['tools of other kinds', { tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools'],
    [
      'choices of other kinds',
      { tools: [declared], tool_choice: { type: 'custom', custom: { name: 'x' } } },
      'tool_choice',
    ],
    ['choices that are no choice', { tools: [declared], tool_choice: 'any' }, 'tool_choice'],
  ])('refuse %s', (_, hub, parameter) => {
    expect(refusedParameter(() => bodyOf(hub))).toBe(parameter);
  });
});

describe('parameters', () => {
  it.each<[Json, Json]>([
    [
      { temperature: 0, top_p: 0.5, top_k: 3 },
      { temperature: 0, topP: 0.5, topK: 3 },
    ],
    [
      { n: 2, seed: 7 },
      { candidateCount: 2, seed: 7 },
    ],
    [
      { presence_penalty: 1, frequency_penalty: -1 },
      { presencePenalty: 1, frequencyPenalty: -1 },
    ],
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
    [{ max_tokens: 5, max_completion_tokens: 9 }, { maxOutputTokens: 9 }],
    [{ stop: 'x' }, { stopSequences: ['x'] }],
    [{ stop: ['x', 'y'] }, { stopSequences: ['x', 'y'] }],
    [
      { logprobs: true, top_logprobs: 4 },
      { responseLogprobs: true, logprobs: 4 },
    ],
    [{ modalities: ['text', 'image'] }, { responseModalities: ['TEXT', 'IMAGE'] }],
    [
      { audio: { voice: 'Kore', format: 'pcm16' } },
      { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } } },
    ],
    [{ media_resolution: 'MEDIA_RESOLUTION_LOW' }, { mediaResolution: 'MEDIA_RESOLUTION_LOW' }],
    [{ response_format: { type: 'json_object' } }, { responseMimeType: 'application/json' }],
    [
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { type: 'object', additionalProperties: false } },
        },
      },
      {
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object', additionalProperties: false },
      },
    ],
    [
      { generationConfig: { topK: 1, audioTimestamp: true }, top_k: 2 },
      { topK: 2, audioTimestamp: true },
    ],
  ])('%j become %j', (hub, config) => {
    expect(configOf(hub)).toEqual(config);
  });

  it.each<[Json]>([
    [{ response_format: { type: 'text' } }],
    [{ temperature: null, stop: null, response_format: null, somethingNew: null }],
    [
      {
        user: 'u',
        metadata: { a: 'b' },
        stream_options: { include_usage: true },
        store: false,
        parallel_tool_calls: true,
      },
    ],
    [{ logit_bias: {}, service_tier: 'auto', verbosity: 'medium' }],
    [{ service_tier: 'default' }],
    [{ service_tier: 'standard' }],
  ])('%j have no effect', (hub) => {
    expect(bodyOf(hub)).toEqual(bodyOf({}));
  });

  it.each([
    ['flex', 'flex'],
    ['priority', 'priority'],
  ])('request the service tier %s as %s', (service_tier, serviceTier) => {
    expect(bodyOf({ service_tier })).toEqual({ ...bodyOf({}), serviceTier });
  });

  it.each(['flex', 'priority'])('request from Vertex AI the service tier %s in a header', (service_tier) => {
    const { body, headers } = chatRequest({ service_tier }, contextFor(FLASH), vertexAi);

    expect(headers).toEqual(['x-vertex-ai-llm-shared-request-type', service_tier]);
    expect(body).not.toHaveProperty('serviceTier');
  });

  it('name no service tier to Vertex AI when the standard one is requested', () => {
    const request = chatRequest({ service_tier: 'default' }, contextFor(FLASH), vertexAi);

    expect(request).not.toHaveProperty('headers');
  });

  it('that request a service tier from a region of Vertex AI are refused', () => {
    const context = { ...contextFor(FLASH), fields: { 'vertex-region': 'europe-west4' } };

    expect(refusedParameter(() => chatRequest({ service_tier: 'flex' }, context, vertexAi))).toBe(
      'service_tier',
    );
  });

  it("pass along Google's own, and unknown ones", () => {
    const safety = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
    const body = bodyOf({
      safety_settings: safety,
      labels: { team: 'a' },
      somethingNew: { a: 1 },
      extra_body: {
        google: { cached_content: 'cachedContents/1', thinking_config: { include_thoughts: true } },
      },
    });
    expect(body).toEqual({
      ...bodyOf({}),
      safetySettings: safety,
      labels: { team: 'a' },
      somethingNew: { a: 1 },
      cachedContent: 'cachedContents/1',
      generationConfig: { thinkingConfig: { include_thoughts: true } },
    });
  });

  it('keep a name that would be a prototype as a name', () => {
    const body = bodyOf(JSON.parse('{"__proto__": {"polluted": true}}') as Json);
    expect(Object.hasOwn(body, '__proto__')).toBe(true);
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('leave out the effort in Anthropic’s own values, which Gemini refuses', () => {
    const body = bodyOf({ output_config: { effort: 'high' }, reasoning_effort: 'high' });

    expect(body).not.toHaveProperty('output_config');
    expect(body).toHaveProperty('generationConfig.thinkingConfig.thinkingBudget', 24_576);
  });

  it.each<[string, Json]>([
    ['logit_bias', { logit_bias: { '1': 2 } }],
    ['parallel_tool_calls', { parallel_tool_calls: false }],
    ['prediction', { prediction: { type: 'content', content: 'x' } }],
    ['service_tier', { service_tier: 'scale' }],
    ['store', { store: true }],
    ['verbosity', { verbosity: 'low' }],
    ['reasoning_effort', { reasoning_effort: 'immense' }],
    ['response_format', { response_format: { type: 'grammar' } }],
    ['audio.format', { audio: { voice: 'Kore', format: 'mp3' } }],
  ])('that Gemini cannot honour are refused: %s', (parameter, hub) => {
    expect(refusedParameter(() => bodyOf(hub))).toBe(parameter);
  });
});

describe('thinking', () => {
  it.each<[string, Json, Json | undefined]>([
    [FLASH, {}, undefined],
    [FLASH, { reasoning_effort: 'none' }, { includeThoughts: false, thinkingBudget: 0 }],
    [FLASH, { reasoning_effort: 'medium' }, { includeThoughts: true, thinkingBudget: 8192 }],
    [FLASH, { reasoning_effort: 'xhigh' }, { includeThoughts: true, thinkingBudget: 24_576 }],
    ['gemini-2.5-pro', { reasoning_effort: 'none' }, { includeThoughts: false, thinkingBudget: 128 }],
    [
      'google/gemini-2.5-pro',
      { thinking: { type: 'disabled' } },
      { includeThoughts: false, thinkingBudget: 128 },
    ],
    [
      FLASH,
      { thinking: { type: 'enabled', budget_tokens: 99 }, reasoning_effort: 'low' },
      { includeThoughts: true, thinkingBudget: 99 },
    ],
    [
      FLASH,
      { thinking: { type: 'enabled', budget_tokens: 31_999 } },
      { includeThoughts: true, thinkingBudget: 24_576 },
    ],
    [
      'gemini-2.5-pro',
      { thinking: { type: 'enabled', budget_tokens: 31_999 } },
      { includeThoughts: true, thinkingBudget: 31_999 },
    ],
    [
      'gemini-2.5-flash-lite',
      { thinking: { type: 'enabled', budget_tokens: 99 } },
      { includeThoughts: true, thinkingBudget: 512 },
    ],
    [
      THREE,
      { thinking: { type: 'enabled', budget_tokens: 2_000 }, reasoning_effort: 'low' },
      { includeThoughts: true, thinkingLevel: 'LOW' },
    ],
    [
      THREE,
      { thinking: { type: 'adaptive' }, reasoning_effort: 'max' },
      { includeThoughts: true, thinkingLevel: 'HIGH' },
    ],
    [THREE, { reasoning_effort: 'high' }, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    [THREE, { reasoning_effort: 'minimal' }, { includeThoughts: true, thinkingLevel: 'LOW' }],
    [
      'gemini-3-flash-preview',
      { reasoning_effort: 'minimal' },
      { includeThoughts: true, thinkingLevel: 'MINIMAL' },
    ],
    ['gemini-3.6-flash', { reasoning_effort: 'none' }, { includeThoughts: false, thinkingLevel: 'MINIMAL' }],
    ['gemini-3.8-flash', { reasoning_effort: 'none' }, { includeThoughts: false, thinkingLevel: 'LOW' }],
    ['gemini-4-argon', { reasoning_effort: 'low' }, { includeThoughts: true, thinkingLevel: 'LOW' }],
    [
      'gemini-flash-latest',
      { reasoning_effort: 'medium' },
      { includeThoughts: true, thinkingLevel: 'MEDIUM' },
    ],
  ])('of %s: %j is %j', (model, hub, thinkingConfig) => {
    expect(configOf(hub, model)).toEqual(thinkingConfig && { thinkingConfig });
  });

  it.each([
    [FLASH, 5_000, 2_500],
    [FLASH, 100_000, 24_576],
    ['gemini-2.5-pro', 100, 128],
  ])('of %s stays below a limit of %i tokens, so that the model can write', (model, limit, budget) => {
    expect(configOf({ reasoning_effort: 'high', max_tokens: limit }, model)).toEqual({
      maxOutputTokens: limit,
      thinkingConfig: { includeThoughts: true, thinkingBudget: budget },
    });
  });
});
