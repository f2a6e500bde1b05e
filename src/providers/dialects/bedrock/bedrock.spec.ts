import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../common/errors/app-error.js';
import type { Json } from '../../endpoint.js';
import type { Context, Translator } from '../../translation.js';
import { fromBedrockEmbeddings } from './embeddings.js';
import { bedrock } from './index.js';
import { bedrockModelPath } from './models.js';

const chat = bedrock.translators?.['chat-completions'] as Translator;
const embeddings = bedrock.translators?.embeddings as Translator;
const images = bedrock.translators?.['image-generations'] as Translator;
const stream = chat.stream as NonNullable<Translator['stream']>;

const CLAUDE = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
const contextOf = (model: string, isStrict = true): Context => ({
  id: 'id',
  created: 1,
  model,
  isStreamed: false,
  fields: {},
  isStrict,
});

const user = { role: 'user', content: 'Hi' };
const bodyOf = (hub: Json, model = CLAUDE): Json =>
  chat.request({ messages: [user], ...hub }, contextOf(model)).body as Json;
const messagesOf = (...messages: unknown[]): unknown => bodyOf({ messages }).messages;

const refusalOf = (translate: () => unknown): unknown => {
  try {
    translate();
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    const { code, details } = error as AppError;
    return code === 'parameter_unsupported' ? details.parameter : code;
  }
  return null;
};

const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const SPEC = { toolSpec: { name: 'f', inputSchema: { json: { type: 'object' } } } };
const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

describe('the path of a model', () => {
  it.each([
    ['anthropic.claude-v2:1', '/model/anthropic.claude-v2%3A1/converse'],
    [
      'arn:aws:bedrock:us-east-1:1:inference-profile/us.x-v1:0',
      '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x-v1%3A0/converse',
    ],
    ['a/../b?c#d', '/model/a%2F..%2Fb%3Fc%23d/converse'],
    ['\ud800', '/model/%EF%BF%BD/converse'],
  ])('of %j is %s', (model, path) => {
    expect(bedrockModelPath(model, 'converse')).toBe(path);
  });

  it.each(['', '.', '..'])('is refused for the model %j, which would name another path', (model) => {
    expect(refusalOf(() => bedrockModelPath(model, 'converse'))).toBe('invalid_request');
  });
});

describe('a request that Bedrock cannot do', () => {
  it.each<readonly [string, Json]>([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 1: 1 } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['store', { store: true }],
    ['web_search_options', { web_search_options: {} }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['service_tier', { service_tier: 'scale' }],
    ['parallel_tool_calls', { tools: [TOOL], parallel_tool_calls: false }],
    ['tools[].type', { tools: [{ type: 'web_search' }] }],
    ['tool_choice', { tools: [TOOL], tool_choice: { type: 'custom' } }],
    ['messages[].content', { messages: [{ role: 'system', content: [image('data:image/png;base64,AA')] }] }],
    ['messages[].content[].image_url', { messages: [said(image('https://example.com/a.png'))] }],
    ['messages[].content[].image_url', { messages: [said(image('data:image/tiff;base64,AA'))] }],
    ['messages[].content[].file', { messages: [said({ type: 'file', file: { file_id: 'f' } })] }],
    [
      'messages[].content[].file',
      { messages: [said({ type: 'file', file: { file_url: 'https://x.y/a.pdf' } })] },
    ],
    [
      'messages[].content[].file',
      { messages: [said({ type: 'file', file: { file_data: 'AA', filename: 'a.zip' } })] },
    ],
    ['messages[].content[].type', { messages: [said({ type: 'video_url' })] }],
    ['messages[].audio', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
  ])('is refused by the name %s: %j', (parameter, hub) => {
    expect(refusalOf(() => bodyOf(hub))).toBe(parameter);
  });

  it.each<Json>([
    { messages: 'no' },
    { messages: [{ role: 'wizard' }] },
    { messages: [{ role: 'tool', content: 'x' }] },
    { messages: [{ role: 'assistant', tool_calls: [{}] }] },
    { messages: [said({ text: 'x' })] },
    { stop: 5 },
    { tools: [TOOL], tool_choice: 'sometimes' },
    { reasoning_effort: 'enormous' },
    { response_format: { type: 'json_schema' } },
  ])('is refused as wrong: %j', (hub) => {
    expect(refusalOf(() => bodyOf(hub))).toBe('invalid_request');
  });

  it.each<Json>([
    { n: 1, logprobs: false, logit_bias: {}, store: false, modalities: ['text'] },
    { user: 'u', stream_options: { include_usage: true }, prompt_cache_key: 'k', prediction: {} },
    {
      response_format: { type: 'text' },
      service_tier: 'auto',
      parallel_tool_calls: false,
      tool_choice: 'auto',
    },
    { top_k: null, stop: [], temperature: null, metadata: {}, reasoning_effort: null },
  ])('is not what has no effect: %j', (hub) => {
    expect(bodyOf(hub)).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hi' }] }] });
  });
});

function said(...content: unknown[]): Json {
  return { role: 'user', content };
}

function image(url: string): Json {
  return { type: 'image_url', image_url: { url } };
}

describe('parameters', () => {
  it("go along as the model's own where Converse has no place for them", () => {
    const { additionalModelRequestFields: own } = bodyOf({
      seed: 7,
      additional_model_request_fields: { mine: true },
    });
    expect(own).toEqual({ seed: 7, mine: true });
  });

  it("never reach an object's prototype", () => {
    const hub = JSON.parse('{"__proto__":{"polluted":1},"metadata":{"__proto__":"x"}}') as Json;
    const { additionalModelRequestFields: own } = bodyOf({ ...hub });
    expect(Object.getPrototypeOf(own)).toBe(Object.prototype);
    expect(({} as Json).polluted).toBeUndefined();
  });

  it.each<readonly [string, Json]>([
    [CLAUDE, { top_k: 5 }],
    ['us.amazon.nova-pro-v1:0', { inferenceConfig: { topK: 5 } }],
    ['cohere.command-r-v1:0', { k: 5 }],
    ['mistral.mistral-large-2402-v1:0', { top_k: 5 }],
  ])('send %s top_k as %j', (model, own) => {
    expect(bodyOf({ top_k: 5 }, model).additionalModelRequestFields).toEqual(own);
  });

  it.each<readonly [string, Json, Json | undefined]>([
    [
      CLAUDE,
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    ],
    [CLAUDE, { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['us.amazon.nova-2-lite-v1:0', { reasoning_effort: 'none' }, { reasoningConfig: { type: 'disabled' } }],
    ['us.amazon.nova-2-lite-v1:0', {}, undefined],
    ['openai.gpt-oss-120b-1:0', { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
    [
      CLAUDE,
      { reasoning_effort: 'high', max_tokens: 5_000 },
      { thinking: { type: 'enabled', budget_tokens: 2_500 } },
    ],
    [
      'openai.gpt-oss-120b-1:0',
      { thinking: { type: 'enabled', budget_tokens: 32_000 }, reasoning_effort: 'xhigh' },
      { reasoning_effort: 'high' },
    ],
    [
      'meta.llama3-3-70b-instruct-v1:0',
      { thinking: { type: 'disabled' }, reasoning_effort: 'none' },
      undefined,
    ],
    ['meta.llama3-3-70b-instruct-v1:0', { reasoning_effort: 'low' }, { reasoning_effort: 'low' }],
    ['us.amazon.nova-2-lite-v1:0', { thinking: { type: 'adaptive' } }, undefined],
  ])('request reasoning from %s: %j', (model, hub, own) => {
    expect(bodyOf(hub, model).additionalModelRequestFields).toEqual(own);
  });

  it('cut a temperature that only OpenAI has', () => {
    expect(bodyOf({ temperature: 1.5, top_p: 0.5 }).inferenceConfig).toEqual({ temperature: 1, topP: 0.5 });
  });
});

describe('tools', () => {
  it.each<readonly [unknown, Json | undefined]>([
    ['auto', { tools: [SPEC], toolChoice: { auto: {} } }],
    ['required', { tools: [SPEC], toolChoice: { any: {} } }],
    ['none', undefined],
    [undefined, { tools: [SPEC] }],
    [
      { type: 'function', function: { name: 'f' } },
      { tools: [SPEC], toolChoice: { tool: { name: 'f' } } },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [TOOL] } },
      { tools: [SPEC], toolChoice: { any: {} } },
    ],
  ])('are chosen by %j', (choice, toolConfig) => {
    const other = { type: 'function', function: { name: 'g' } };
    const isPartial = typeof choice === 'object' && 'allowed_tools' in (choice as Json);
    expect(bodyOf({ tools: isPartial ? [TOOL, other] : [TOOL], tool_choice: choice }).toolConfig).toEqual(
      toolConfig,
    );
  });

  it.each<Json>([{}, { tools: [] }, { tools: [TOOL], tool_choice: 'none' }, { tool_choice: 'auto' }])(
    'are one that must not be called, where the conversation has called some and may call none: %j',
    (hub) => {
      const messages = [
        user,
        { role: 'assistant', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'c1', content: 'r' },
      ];
      expect(bodyOf({ ...hub, messages }).toolConfig).toEqual({
        tools: [{ toolSpec: expect.objectContaining({ name: 'no_tool_available' }) as Json }],
      });
      expect(bodyOf(hub).toolConfig).toBeUndefined();
    },
  );

  it("keep what is strict, and those of Bedrock's own", () => {
    const strict = { type: 'function', function: { name: 'f', description: 'd', strict: true } };
    const own = { systemTool: { name: 'nova_grounding' } };
    expect(bodyOf({ tools: [strict, own] }).toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'f',
            description: 'd',
            inputSchema: { json: { type: 'object', properties: {} } },
            strict: true,
          },
        },
        own,
      ],
    });
  });
});

describe('a conversation', () => {
  it('alternates, with the results of tools first, and leaves out what says nothing', () => {
    expect(
      messagesOf(
        user,
        { role: 'user', content: [{ type: 'text', text: ' \n' }, 'Yo'] },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'Wait.', tool_calls: [CALL] },
        { role: 'user', content: 'Well?' },
        {
          role: 'tool',
          tool_call_id: 'c1',
          content: [{ type: 'text', text: 'r', cache_control: { type: 'ephemeral' } }],
        },
      ),
    ).toEqual([
      { role: 'user', content: [{ text: 'Hi' }, { text: 'Yo' }] },
      {
        role: 'assistant',
        content: [{ text: 'Wait.' }, { toolUse: { toolUseId: 'c1', name: 'f', input: {} } }],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: 'r' }] } },
          { cachePoint: { type: 'default' } },
          { text: 'Well?' },
        ],
      },
    ]);
  });

  it('gives calls whose ids Bedrock would refuse other ids, the same in the result', () => {
    const ids = ['call:1', 'call.1', 'call_1', 'x'.repeat(80), `${'x'.repeat(80)}y`, ''];
    const calls = ids.map((id) => ({ ...CALL, id }));
    const results = ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'r' }));
    const [assistant, tools] = messagesOf({ role: 'assistant', tool_calls: calls }, ...results) as {
      content: { toolUse: Json; toolResult: Json }[];
    }[];
    const used = assistant?.content.map(({ toolUse }) => toolUse.toolUseId) as string[];
    expect(used.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id))).toBe(true);
    expect(new Set(used).size).toBe(ids.length);
    expect(tools?.content.map(({ toolResult }) => toolResult.toolUseId)).toEqual(used);
  });

  it('shows the model arguments that were no JSON object', () => {
    const call = { ...CALL, function: { name: 'f', arguments: '{"a":' } };
    expect(messagesOf({ role: 'assistant', tool_calls: [call] })).toEqual([
      {
        role: 'assistant',
        content: [{ toolUse: { toolUseId: 'c1', name: 'f', input: { INVALID_JSON: '{"a":' } } }],
      },
    ]);
  });

  it('leaves out reasoning that has no signature', () => {
    expect(
      messagesOf({
        role: 'assistant',
        reasoning_content: 'hm',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'A' },
        ],
      }),
    ).toEqual([{ role: 'assistant', content: [{ text: 'A' }] }]);
  });

  it('passes audio on', () => {
    const part = { type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } };
    expect(messagesOf(said(part))).toEqual([
      { role: 'user', content: [{ audio: { format: 'mp3', source: { bytes: 'AA' } } }] },
    ]);
  });
});

describe('citations', () => {
  const web = { title: 'T', location: { web: { url: 'https://a.b', domain: 'a.b' } } };
  const document = { title: 'D', location: { documentChar: { documentIndex: 0, start: 0, end: 3 } } };
  const annotation = {
    type: 'url_citation',
    url_citation: { url: 'https://a.b', title: 'T', start_index: 3, end_index: 8 },
  };

  it("are mapped to the hub's fields in a response", () => {
    const content = [
      { text: 'So ' },
      { citationsContent: { content: [{ text: 'it is' }], citations: [web, document] } },
    ];
    const answer = chat.answer({ output: { message: { content } } }, contextOf(CLAUDE, false), {});
    expect(answer.choices).toMatchObject([
      { message: { content: 'So it is', annotations: [annotation], citations: [document] } },
    ]);
  });

  it('come at the end of their block in a stream', () => {
    const translator = stream.open(contextOf(CLAUDE));
    const tell = (event: string, data: Json) =>
      translator.event({ event, data: JSON.stringify(data) }).chunks;
    tell('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'So ' } });
    tell('contentBlockDelta', { contentBlockIndex: 1, delta: { text: 'it is' } });
    tell('contentBlockDelta', { contentBlockIndex: 1, delta: { citation: web } });
    expect(tell('contentBlockStop', { contentBlockIndex: 1 })).toMatchObject([
      { choices: [{ delta: { annotations: [annotation] } }] },
    ]);
  });
});

describe('refusals of Bedrock', () => {
  it.each<readonly [number, Json | null, string, string | null]>([
    [400, { message: 'm' }, 'invalid_request_error', null],
    [
      400,
      { message: 'Input is too long for requested model.' },
      'invalid_request_error',
      'context_length_exceeded',
    ],
    [403, { message: "You don't have access to the model." }, 'permission_error', null],
    [
      403,
      { message: 'The security token included in the request is invalid.' },
      'authentication_error',
      'invalid_api_key',
    ],
    [404, null, 'not_found_error', null],
    [408, {}, 'timeout_error', null],
    [424, { originalStatusCode: 500 }, 'server_error', null],
    [429, { message: 'Too many requests' }, 'rate_limit_error', 'rate_limit_exceeded'],
    [500, { Message: 'm' }, 'server_error', null],
    [503, { message: 5 }, 'server_error', 'overloaded'],
    [
      400,
      { __type: 'com.amazonaws.bedrock#ServiceQuotaExceededException:http://x' },
      'rate_limit_error',
      'insufficient_quota',
    ],
    [400, { __type: '__proto__' }, 'invalid_request_error', null],
  ])('%i %j are %s, %s', (status, body, type, code) => {
    expect(chat.error(status, body)).toMatchObject({
      type,
      code,
      param: null,
      message: expect.stringMatching(/./),
    });
  });

  it.each(['modelStreamErrorException', 'InternalError'])('end a stream by %s', (event) => {
    const translator = stream.open(contextOf(CLAUDE));
    const data = JSON.stringify({ __type: event, message: 'broken' });
    expect(translator.event({ event, data }).error).toMatchObject({
      type: 'server_error',
      message: 'broken',
    });
    expect(translator.event({ event: 'messageStart', data: '{}' }).chunks).toEqual([]);
  });
});

describe('manual thinking that Claude would refuse', () => {
  const loop = (turn: Json) => [
    user,
    { role: 'assistant', tool_calls: [CALL], ...turn },
    { role: 'tool', tool_call_id: 'c1', content: 'x' },
  ];
  const signed = { content_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'S' }] };
  const thinking = { type: 'enabled', budget_tokens: 2_048 };
  const effort = { reasoning_effort: 'low', tools: [TOOL] };
  const own = { additional_model_request_fields: { thinking } };

  it.each<readonly [string, Json, Json | undefined]>([
    ['between a call and its result', { ...effort, messages: loop({}) }, undefined],
    ['the same, beside other fields', { ...effort, top_k: 5, messages: loop({}) }, { top_k: 5 }],
    ['between them, when the thinking is there', { ...effort, messages: loop(signed) }, { thinking }],
    ['when the client asks for it itself', { tools: [TOOL], thinking, messages: loop({}) }, { thinking }],
    ['when it does so by a field of the model', { ...effort, ...own, messages: loop({}) }, { thinking }],
    ['where a tool must be called', { ...effort, tool_choice: 'required' }, undefined],
    ['where a tool may be called', { ...effort, tool_choice: 'auto' }, { thinking }],
  ])('is left out only where it represents an effort: %s', (_, hub, fields) => {
    expect(bodyOf(hub).additionalModelRequestFields).toEqual(fields);
  });
});

describe('what models of other makers do not have', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const hub = {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.', ...mark }] },
      { ...user, ...mark },
    ],
    tools: [{ ...TOOL, ...mark }],
  };
  const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0';

  it.each([
    [CLAUDE, 3],
    ['us.amazon.nova-pro-v1:0', 3],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/x', 3],
    [LLAMA, 0],
  ])('marks of the cache: %s gets %i', (model, count) => {
    expect(JSON.stringify(bodyOf(hub, model)).split('cachePoint')).toHaveLength(count + 1);
  });

  it('a choice of tools', () => {
    expect(bodyOf({ tools: [TOOL], tool_choice: 'auto' }, LLAMA).toolConfig).toEqual({ tools: [SPEC] });
    expect(refusalOf(() => bodyOf({ tools: [TOOL], tool_choice: 'required' }, LLAMA))).toBe('tool_choice');
  });
});

it('instructions alone become a user message, because Bedrock requires one', () => {
  const { system, messages } = bodyOf({ messages: [{ role: 'system', content: 'Say hello.' }] });

  expect(system).toBeUndefined();
  expect(messages).toEqual([{ role: 'user', content: [{ text: 'Say hello.' }] }]);
});

describe('a tool that Bedrock runs itself', () => {
  const use = { toolUseId: 's1', name: 'nova_grounding', type: 'server_tool_use' };

  it('is no call for the client in a response', () => {
    const content = [
      { toolUse: { ...use, input: { query: 'x' } } },
      { toolResult: { toolUseId: 's1', content: [{ json: {} }], type: 'nova_grounding_result' } },
      { text: 'Found.' },
    ];
    const answer = chat.answer(
      { output: { message: { content } }, stopReason: 'end_turn' },
      contextOf('nova'),
    );

    expect(answer.choices).toMatchObject([
      { message: { role: 'assistant', content: 'Found.' }, finish_reason: 'stop' },
    ]);
    expect(JSON.stringify(answer)).not.toContain('tool_calls');
  });

  it('is none in a stream, where calls of the client are counted without it', () => {
    const translator = stream.open(contextOf('nova'));
    const told = [
      ['contentBlockStart', { contentBlockIndex: 0, start: { toolUse: use } }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"query":"x"}' } } }],
      ['contentBlockStop', { contentBlockIndex: 0 }],
      ['contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'c1', name: 'f' } } }],
      ['contentBlockStop', { contentBlockIndex: 1 }],
    ] as const;
    const chunks = told.flatMap(
      ([event, data]) => translator.event({ event, data: JSON.stringify(data) }).chunks,
    );

    expect(chunks.map(({ choices }) => (choices as { delta: Json }[])[0]?.delta)).toEqual([
      { tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
    ]);
  });
});

describe('a stream', () => {
  it('gives a call whose arguments never came an empty object', () => {
    const translator = stream.open(contextOf(CLAUDE));
    const start = { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'a', name: 'f' } } };
    translator.event({ event: 'contentBlockStart', data: JSON.stringify(start) });
    const { chunks } = translator.event({ event: 'contentBlockStop', data: '{"contentBlockIndex":0}' });
    expect(chunks).toMatchObject([
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{}' } }] } }] },
    ]);
  });

  it('is complete once it has its stop reason, also without usage', () => {
    const translator = stream.open(contextOf(CLAUDE));
    expect(translator.end()).toEqual({ chunks: [] });
    translator.event({ event: 'messageStop', data: '{"stopReason":"end_turn"}' });
    expect(translator.end()).toEqual({ chunks: [], isDone: true });
  });
});

describe('embeddings', () => {
  it('are written as base64 on request', () => {
    const answer = fromBedrockEmbeddings({ embeddings: [[0.5]] }, contextOf('cohere.embed-v4:0'), {
      encoding_format: 'base64',
    });
    expect(answer.data).toEqual([{ object: 'embedding', index: 0, embedding: 'AAAAPw==' }]);
  });

  it.each<readonly [string, string, Json]>([
    ['input', 'amazon.titan-embed-text-v2:0', { input: ['a', 'b'] }],
    ['input', 'cohere.embed-english-v3', { input: [[1, 2]] }],
    ['input', 'cohere.embed-english-v3', { input: [] }],
    ['dimensions', 'amazon.titan-embed-text-v1', { input: 'a', dimensions: 5 }],
    ['model', 'twelvelabs.marengo-embed-2-7-v1:0', { input: 'a' }],
  ])('refuse %s of %s: %j', (parameter, model, hub) => {
    expect(refusalOf(() => embeddings.request(hub, contextOf(model)))).toBe(parameter);
  });
});

describe('images', () => {
  it.each<readonly [string, string, Json]>([
    ['model', 'meta.llama3', {}],
    ['invalid_request', 'amazon.nova-canvas-v1:0', { prompt: 5 }],
    ['invalid_request', 'amazon.nova-canvas-v1:0', { size: '0x5' }],
    ['response_format', 'amazon.nova-canvas-v1:0', { response_format: 'url' }],
    ['quality', 'amazon.titan-image-generator-v2:0', { quality: 'best' }],
    ['quality', 'stability.stable-image-core-v1:1', { quality: 'hd' }],
    ['style', 'stability.stable-image-core-v1:1', { style: 'vivid' }],
    ['size', 'stability.stable-image-core-v1:1', { size: '1792x1024' }],
    ['n', 'stability.stable-image-core-v1:1', { n: 2 }],
  ])('refuse %s of %s: %j', (parameter, model, hub) => {
    expect(refusalOf(() => images.request({ prompt: 'p', ...hub }, contextOf(model)))).toBe(parameter);
  });

  it.each(['amazon.nova-canvas-v1:0', 'stability.stable-image-core-v1:1'])(
    'of %s may be of any size',
    (model) => {
      const hub = { prompt: 'p', size: 'auto', quality: 'auto', background: 'auto', n: null };
      expect(JSON.stringify(images.request(hub, contextOf(model)).body)).not.toMatch(/auto|null/);
    },
  );
});

/** JSON that resembles Bedrock's or a client's in everything but its types. */
const NAMES = [
  'output',
  'message',
  'content',
  'text',
  'reasoningContent',
  'reasoningText',
  'toolUse',
  'toolUseId',
  'name',
  'input',
  'citationsContent',
  'citations',
  'location',
  'web',
  'url',
  'usage',
  'inputTokens',
  'outputTokens',
  'stopReason',
  'delta',
  'start',
  'contentBlockIndex',
  '__type',
  '__proto__',
  'embedding',
  'embeddings',
  'float',
  'trace',
  'serviceTier',
  'type',
  'role',
  'messages',
  'tool_calls',
  'function',
  'arguments',
  'id',
  'tools',
  'tool_choice',
  'image_url',
  'file',
  'file_data',
  'cache_control',
  'thinking',
  'signature',
  'response_format',
  'stop',
  'top_k',
  'metadata',
  'reasoning_effort',
];
const { value: anyJson } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      1e300,
      '',
      'text',
      'user',
      'assistant',
      'function',
      'image_url',
      'file',
    ),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { maxLength: 5 })
      .map((rows) => Object.fromEntries(rows)),
  ),
}));
const anyObject = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), anyJson))
  .map((rows): Json => Object.fromEntries(rows));

describe('whatever comes', () => {
  it('requests become requests or refusals', () => {
    fc.assert(
      fc.property(
        anyObject,
        fc.array(anyObject),
        fc.constantFrom(CLAUDE, 'nova', 'x'),
        (hub, messages, model) => {
          for (const translator of [chat, embeddings, images])
            refusalOf(() => translator.request({ messages, ...hub }, contextOf(model)));
        },
      ),
    );
  });

  it('an error is what its header says, where the body says nothing', () => {
    const named = (type: string) =>
      chat.error(400, { message: 'no' }, (name) => (name === 'x-amzn-errortype' ? type : null));
    expect(named('ThrottlingException:http://internal.amazon.com/coral/')).toMatchObject({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
    });
    expect(named('UnrecognizedClientException')).toMatchObject({ type: 'authentication_error' });
    expect(named('SomethingNew')).toMatchObject({ type: 'invalid_request_error' });
  });

  it('Claude returns the matched stop sequence, and the client gets it where its format has a field for it', () => {
    const asked = (hub: Json, model: string, isStrict: boolean) =>
      (chat.request({ messages: [user], ...hub }, contextOf(model, isStrict)).body as Json)
        .additionalModelResponseFieldPaths;
    expect(asked({ stop: ['END'] }, CLAUDE, false)).toEqual(['/stop_sequence']);
    expect(asked({ stop: ['END'] }, CLAUDE, true)).toBeUndefined();
    expect(asked({}, CLAUDE, false)).toBeUndefined();
    expect(asked({ stop: ['END'] }, 'amazon.nova-pro-v1:0', false)).toBeUndefined();
    const answer = { stopReason: 'stop_sequence', additionalModelResponseFields: { stop_sequence: 'END' } };
    expect(chat.answer(answer, contextOf(CLAUDE, false))).toMatchObject({
      choices: [{ stop_sequence: 'END' }],
    });
    const open = stream.open(contextOf(CLAUDE, false));
    const { chunks } = open.event({ event: 'messageStop', data: JSON.stringify(answer) });
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop', stop_sequence: 'END' }] });
  });

  it('responses and errors never throw', () => {
    fc.assert(
      fc.property(anyObject, fc.integer({ min: 100, max: 599 }), (answer, status) => {
        for (const translator of [chat, embeddings, images]) {
          expect(() =>
            JSON.stringify(translator.answer(answer, contextOf(CLAUDE, false), answer)),
          ).not.toThrow();
          expect(translator.error(status, answer).message).not.toBe('');
        }
      }),
    );
  });

  it('streams never throw, and say nothing after their end', () => {
    const names = [
      'messageStart',
      'contentBlockStart',
      'contentBlockDelta',
      'contentBlockStop',
      'messageStop',
      'metadata',
      'x',
      null,
    ];
    const anyEvent = fc.record({
      event: fc.constantFrom(...names),
      data: fc.oneof(
        anyObject.map((data) => JSON.stringify(data)),
        fc.string(),
      ),
    });
    fc.assert(
      fc.property(fc.array(anyEvent), (events) => {
        const translator = stream.open(contextOf(CLAUDE, false));
        let isOver = false;
        for (const event of events) {
          const { chunks, isDone, error } = translator.event(event);
          if (isOver) expect(chunks).toEqual([]);
          isOver ||= isDone === true || error !== undefined;
        }
        translator.end();
      }),
    );
  });
});
