import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import type { Context } from '../../translation.js';
import { anthropicChat } from './chat.js';

const context: Context = {
  id: 'x-1',
  created: 1,
  model: 'claude-opus-5',
  isStreamed: false,
  fields: {},
  isStrict: true,
};
const question = [{ role: 'user', content: 'Hi' }];
const lookup = { type: 'function', function: { name: 'look_up', parameters: { properties: {} } } };
const find = { type: 'function', function: { name: 'find' } };

interface AnthropicRequestBody extends Json {
  readonly messages: readonly { readonly role: string; readonly content: readonly Json[] }[];
  readonly tools: readonly Json[];
  readonly thinking: Json;
  readonly output_config?: Json;
}

const body = (hub: Json, model = context.model): AnthropicRequestBody =>
  anthropicChat.request({ model, messages: question, ...hub }, { ...context, model })
    .body as AnthropicRequestBody;

const content = (part: Json): unknown =>
  body({ messages: [{ role: 'user', content: [part] }] }).messages[0]?.content;

function refusal(hub: Json): unknown {
  try {
    return body(hub);
  } catch (error) {
    const { code, details } = error as { code: string; details: Json };
    return [code, details.parameter ?? null];
  }
}

describe('parameters', () => {
  it.each([
    ['n', 2],
    ['logprobs', true],
    ['top_logprobs', 3],
    ['logit_bias', { 50256: -100 }],
    ['seed', 7],
    ['frequency_penalty', 0.5],
    ['presence_penalty', -1],
    ['audio', { voice: 'alloy', format: 'mp3' }],
    ['modalities', ['text', 'audio']],
    ['verbosity', 'low'],
    ['store', true],
    ['functions', [{ name: 'f' }]],
    ['function_call', 'auto'],
    ['web_search_options', {}],
    ['response_format', { type: 'json_object' }],
    ['service_tier', 'flex'],
    ['tool_choice', { type: 'custom', custom: { name: 'c' } }],
  ])('refuse %s, which Anthropic cannot do, by its name', (parameter, value) => {
    expect(refusal({ [parameter]: value })).toEqual(['parameter_unsupported', parameter]);
  });

  it.each([
    ['n', 1],
    ['logprobs', false],
    ['logit_bias', {}],
    ['seed', null],
    ['frequency_penalty', 0],
    ['modalities', ['text']],
    ['store', false],
    ['prompt_cache_key', 'k'],
    ['prediction', { type: 'content', content: 'x' }],
    ['stream_options', { include_usage: true }],
    ['response_format', { type: 'text' }],
    ['stop', []],
    ['tools', []],
    ['top_p', null],
  ])('leave out %s where it has no effect', (parameter, value) => {
    expect(body({ [parameter]: value })).toEqual(body({}));
  });

  it.each([
    [{ temperature: 0.4 }, { temperature: 0.4 }],
    [{ temperature: 1.7 }, { temperature: 1 }],
    [
      { top_k: 5, top_p: 0.9 },
      { top_k: 5, top_p: 0.9 },
    ],
    [{ stop: 'END' }, { stop_sequences: ['END'] }],
    [{ user: 'u1' }, { metadata: { user_id: 'u1' } }],
    [{ user: 'u1', metadata: { user_id: 'u2', team: 't' } }, { metadata: { user_id: 'u2' } }],
    [{ safety_identifier: 's' }, { metadata: { user_id: 's' } }],
    [{ service_tier: 'default' }, { service_tier: 'standard_only' }],
    [{ service_tier: 'priority' }, { service_tier: 'auto' }],
    [{ max_tokens: 5, max_completion_tokens: 6 }, { max_tokens: 6 }],
    [
      { inference_geo: 'us', container: 'c' },
      { inference_geo: 'us', container: 'c' },
    ],
    [{ output_config: { task_budget: { total: 1 } } }, { output_config: { task_budget: { total: 1 } } }],
    [
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', description: 'D', schema: { type: 'object' } },
        },
      },
      { output_config: { format: { type: 'json_schema', schema: { description: 'D', type: 'object' } } } },
    ],
  ])('say %j in Anthropic’s words', (hub, said) => {
    expect(body(hub)).toEqual({ ...body({}), ...said });
  });

  it('keep a parameter named __proto__ apart from objects’ own', () => {
    const hub = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}') as Json;

    expect(body(hub).polluted).toBeUndefined();
    expect(({} as Json).polluted).toBeUndefined();
  });

  it('request a stream where the client does', () => {
    const { body: sent } = anthropicChat.request({ messages: question }, { ...context, isStreamed: true });

    expect(sent).toMatchObject({ stream: true });
  });

  it.each([
    ['claude-opus-5-5', 64_000],
    ['claude-haiku-4-5', 64_000],
    ['claude-sonnet-4-20250514', 64_000],
    ['claude-opus-4-5-20251101', 64_000],
    ['claude-opus-4-1-20250805', 32_000],
    ['claude-opus-4-20250514', 32_000],
    ['claude-3-5-haiku-latest', 8_192],
    ['claude-3-haiku-20240307', 4_096],
    ['a-model-of-tomorrow', 64_000],
  ])('give %s the limit that it can write, where the client names none', (model, limit) => {
    expect(body({}, model).max_tokens).toBe(limit);
  });
});

describe('reasoning', () => {
  const adaptive = { type: 'adaptive', display: 'summarized' };

  it.each([
    ['claude-opus-5', 'minimal', adaptive, 'low'],
    ['claude-opus-4-6', 'high', adaptive, 'high'],
    ['claude-sonnet-4-6', 'xhigh', adaptive, 'xhigh'],
    ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined],
    ['claude-haiku-4-5-20251001', 'none', { type: 'disabled' }, undefined],
    ['claude-haiku-4-5-20251001', 'low', { type: 'enabled', budget_tokens: 2_048 }, undefined],
    ['anthropic.claude-sonnet-4-5-v1:0', 'high', { type: 'enabled', budget_tokens: 16_384 }, undefined],
    ['claude-opus-4-1', 'xhigh', { type: 'enabled', budget_tokens: 16_000 }, undefined],
  ])('of %s with the effort %s is requested in its own format', (model, effort, thinking, said) => {
    const sent = body({ reasoning_effort: effort }, model);

    expect(sent.thinking).toEqual(thinking);
    expect(sent.output_config?.effort).toBe(said);
  });

  it('is passed on in Anthropic’s own values', () => {
    const thinking = { type: 'enabled', budget_tokens: 5_000 };

    expect(body({ thinking }).thinking).toEqual(thinking);
    expect(body({ thinking, reasoning_effort: 'low' }, 'claude-haiku-4-5').thinking).toEqual(thinking);
    expect(body({ thinking: adaptive, reasoning_effort: 'low' })).toMatchObject({
      thinking: adaptive,
      output_config: { effort: 'low' },
    });
  });

  it('takes half of the token limit at most, and is refused when too few tokens remain', () => {
    const model = 'claude-haiku-4-5';
    const ask = (limit: number) => body({ reasoning_effort: 'high', max_tokens: limit }, model);

    expect(ask(5_000).thinking.budget_tokens).toBe(2_500);
    expect(ask(2_000).thinking.budget_tokens).toBe(1_024);
    expect(() => ask(1_024)).toThrow('"reasoning_effort"');
    expect(refusal({ reasoning_effort: 'huge' })).toEqual(['invalid_request', 'reasoning_effort']);
  });
});

describe('thinking in the words of an Anthropic client', () => {
  const enabled = { type: 'enabled', budget_tokens: 2_000 };

  it.each([
    ['claude-sonnet-4-6', { thinking: enabled, reasoning_effort: 'low' }, enabled],
    [
      'claude-opus-4-7',
      { thinking: enabled, reasoning_effort: 'low' },
      { type: 'adaptive', display: 'summarized' },
    ],
    ['claude-opus-4-7', { thinking: enabled }, enabled],
    [
      'claude-haiku-4-5',
      { thinking: { type: 'adaptive' }, reasoning_effort: 'low' },
      { type: 'enabled', budget_tokens: 2_048 },
    ],
    ['claude-haiku-4-5', { thinking: { type: 'adaptive' } }, undefined],
    [
      'claude-sonnet-5-5',
      { thinking: { type: 'disabled' }, reasoning_effort: 'none' },
      { type: 'between_tools' },
    ],
    ['claude-opus-5', { output_config: { effort: 'low' }, reasoning_effort: 'low' }, undefined],
  ])('is sent to %s in values that it supports: %j', (model, hub, said) => {
    expect(body(hub, model).thinking).toEqual(said);
  });
});

describe('sampling that Claude refuses beside thinking', () => {
  it.each([
    ['temperature', 0.2],
    ['top_k', 5],
    ['top_p', 0.5],
  ])('is refused by the name of %s', (name, value) => {
    expect(refusal({ reasoning_effort: 'high', [name]: value })).toEqual(['parameter_unsupported', name]);
    expect(body({ reasoning_effort: 'none', [name]: value })).toMatchObject({ [name]: value });
  });

  it('goes along where Claude takes it', () => {
    expect(body({ reasoning_effort: 'high', temperature: 1, top_p: 0.95 })).toMatchObject({
      temperature: 1,
      top_p: 0.95,
    });
    expect(body({ temperature: 0.2, top_k: 5 })).toMatchObject({ temperature: 0.2, top_k: 5 });
  });
});

describe('ids of tool calls', () => {
  const turns = (...ids: readonly string[]) =>
    body({
      messages: [
        ...question,
        {
          role: 'assistant',
          tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
        },
        ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' })),
      ],
    })
      .messages.slice(1)
      .map(({ content: blocks }) => blocks.map(({ id, tool_use_id: of }) => id ?? of));

  it('are such as Anthropic takes, the same for a call and its result', () => {
    const fitting = ['functions_a_0', 'functions_a_0_2', 'toolu_1'];

    expect(turns('functions.a:0', 'functions_a_0', 'toolu_1')).toEqual([fitting, fitting]);
  });
});

it('instructions alone become a user message, because Anthropic requires one', () => {
  const { system, messages } = body({ messages: [{ role: 'system', content: 'Say hello.' }] });

  expect(system).toBeUndefined();
  expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }]);
});

describe('texts of spaces alone', () => {
  it('are left out wherever they are, because Anthropic refuses them', () => {
    const call = { id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } };
    const spaces = { type: 'text', text: ' \n' };
    const sent = body({
      messages: [
        { role: 'system', content: ' ' },
        ...question,
        { role: 'assistant', content: '\n\n', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: '\n' },
        { role: 'user', content: [spaces, { type: 'text', text: ' And? ' }] },
      ],
    });

    expect(sent.system).toBeUndefined();
    expect(sent.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'Hi' }],
      [{ type: 'tool_use', id: 'a', name: 'find', input: {} }],
      [
        { type: 'tool_result', tool_use_id: 'a' },
        { type: 'text', text: ' And? ' },
      ],
    ]);
  });
});

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls: text before a result is refused. */
it('puts the results of tools first in the turn that follows their calls, and keeps the order of the texts', () => {
  const calls = ['a', 'b'].map((id) => ({
    id,
    type: 'function',
    function: { name: 'find', arguments: '{}' },
  }));
  const { messages } = body({
    messages: [
      ...question,
      { role: 'assistant', content: 'Looking.', tool_calls: calls },
      { role: 'user', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'user', content: [{ type: 'text', text: 'two' }] },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'user', content: 'three' },
    ],
  });

  expect(messages.at(-1)).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'b', content: 'B' },
      { type: 'tool_result', tool_use_id: 'a', content: 'A' },
      ...['one', 'two', 'three'].map((text) => ({ type: 'text', text })),
    ],
  });
});

describe('thinking that Anthropic would refuse', () => {
  const model = 'claude-haiku-4-5';
  const call = { id: 'a', type: 'function', function: { name: 'find', arguments: '{}' } };
  const loop = (turn: Json) => [
    ...question,
    { role: 'assistant', tool_calls: [call], ...turn },
    { role: 'tool', tool_call_id: 'a', content: 'x' },
  ];
  const signed = { content_blocks: [{ type: 'thinking', thinking: 'Hm.', signature: 'S' }] };
  const thinking = { type: 'enabled', budget_tokens: 2_048 };
  const effort = { reasoning_effort: 'low', tools: [find] };

  it.each([
    ['between a call and its result', { ...effort, messages: loop({}) }, undefined],
    ['between them, when the thinking is there', { ...effort, messages: loop(signed) }, thinking],
    ['when the client asks for it itself', { thinking, tools: [find], messages: loop({}) }, thinking],
    ['where a tool must be called', { ...effort, tool_choice: 'required' }, undefined],
    ['where a tool may be called', { ...effort, tool_choice: 'auto' }, thinking],
  ])('is left out only where it represents an effort: %s', (_, hub, said) => {
    expect(body(hub, model).thinking).toEqual(said);
  });

  it('is left out for adaptive models only where a tool must be called', () => {
    expect(body({ ...effort, tool_choice: 'required' }).thinking).toBeUndefined();
    expect(body({ ...effort, messages: loop({}) }).thinking).toEqual({
      type: 'adaptive',
      display: 'summarized',
    });
  });
});

describe('tools', () => {
  it('keep name, description, schema, strictness and mark, and always have a schema of an object', () => {
    const mark = { type: 'ephemeral' };
    const parameters = { type: 'object', properties: { a: { type: 'string' } } };
    const given = {
      type: 'function',
      function: { name: 'f', description: 'd', parameters, strict: true },
      cache_control: mark,
    };

    expect(body({ tools: [given, find] }).tools).toEqual([
      { name: 'f', description: 'd', input_schema: parameters, strict: true, cache_control: mark },
      { name: 'find', input_schema: { type: 'object', properties: {} } },
    ]);
  });

  it('of Anthropic’s own go along as they are', () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };

    expect(body({ tools: [search] }).tools).toEqual([search]);
  });

  it('of the kind "custom" are refused', () => {
    expect(refusal({ tools: [{ type: 'custom', custom: { name: 'c' } }] })).toEqual([
      'parameter_unsupported',
      'tools[].custom',
    ]);
  });

  it.each([
    ['auto', undefined, { type: 'auto' }],
    ['none', false, { type: 'none' }],
    ['required', undefined, { type: 'any' }],
    ['required', false, { type: 'any', disable_parallel_tool_use: true }],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    [undefined, true, undefined],
    [{ type: 'function', function: { name: 'find' } }, undefined, { type: 'tool', name: 'find' }],
  ])('are chosen as %j with parallel calls %j', (choice, parallel, said) => {
    const sent = body({ tools: [lookup, find], tool_choice: choice, parallel_tool_calls: parallel });

    expect(sent.tool_choice).toEqual(said);
  });

  it('that are disallowed are not sent', () => {
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'find' } }] };
    const sent = body({
      tools: [lookup, find],
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
    });

    expect(sent.tools.map(({ name }) => name)).toEqual(['find']);
    expect(sent.tool_choice).toEqual({ type: 'any' });
  });
});

describe('content', () => {
  const pdf = 'JVBERi0xLjQ=';

  it.each([
    [
      { type: 'image_url', image_url: { url: 'data:image/jpg;base64,QUJD', detail: 'high' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'QUJD' } },
    ],
    [
      { type: 'image_url', image_url: 'https://example.com/a.png' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    ],
    [
      { type: 'file', file: { file_data: `data:application/pdf;base64,${pdf}`, filename: 'a.pdf' } },
      {
        type: 'document',
        title: 'a.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf },
      },
    ],
    [
      { type: 'file', file: { file_data: pdf }, citations: { enabled: true } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf },
        citations: { enabled: true },
      },
    ],
    [
      { type: 'file', file: { file_data: 'w6TDtg==', filename: 'a.TXT' } },
      { type: 'document', title: 'a.TXT', source: { type: 'text', media_type: 'text/plain', data: 'äö' } },
    ],
    [
      { type: 'file', file: { file_data: 'QUJD', mime_type: 'image/png', filename: 'a.png' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
    ],
    [
      { type: 'file', file: { file_url: 'https://example.com/a.pdf' } },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    ],
    [
      { type: 'file', file: { file_id: 'file_1' } },
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
    ],
    [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ],
    [
      { type: 'search_result', source: 's', title: 't', content: [] },
      { type: 'search_result', source: 's', title: 't', content: [] },
    ],
  ])('%j becomes a block', (part, block) => {
    expect(content(part)).toEqual([block]);
  });

  it.each([
    [
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } },
      'messages[].content[].input_audio',
    ],
    [{ type: 'file', file: { file_data: 'QUJD', filename: 'a.docx' } }, 'messages[].content[].file'],
    [
      { type: 'file', file: { file_url: 'https://example.com/a.txt', mime_type: 'text/plain' } },
      'messages[].content[].file',
    ],
  ])('%j is refused by its place', (part, parameter) => {
    expect(refusal({ messages: [{ role: 'user', content: [part] }] })).toEqual([
      'parameter_unsupported',
      parameter,
    ]);
  });

  it.each([
    [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }],
    [{ type: 'image_url', image_url: { url: 'data:image/png,raw' } }],
    [{ type: 'image_url' }],
    [{ type: 'file' }],
    [{ type: 'file', file: {} }],
    [{ type: 'text' }],
    [{ text: 'x' }],
    [7],
  ])('%j is not allowed', (part) => {
    expect(refusal({ messages: [{ role: 'user', content: [part] }] })).toEqual(['invalid_request', null]);
  });
});

describe('messages', () => {
  const said = (messages: readonly Json[], model?: string) => {
    const { system, messages: turns } = body({ messages }, model);
    return { system, turns };
  };
  const text = (told: string) => ({ type: 'text', text: told });

  it('of system and developer move to the front where Claude takes them nowhere else', () => {
    const { system, turns } = said(
      [
        { role: 'developer', content: 'A', cache_control: { type: 'ephemeral' } },
        ...question,
        { role: 'system', content: [text('B')] },
      ],
      'claude-opus-4-7',
    );

    expect(system).toEqual([{ ...text('A'), cache_control: { type: 'ephemeral' } }, text('B')]);
    expect(turns).toHaveLength(1);
  });

  const user = { role: 'user', content: 'Hi' };
  const assistant = { role: 'assistant', content: 'Hello' };
  const rule = { role: 'system', content: 'Be brief.' };
  const asked = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f' } }],
  };
  const told = { role: 'tool', tool_call_id: 'c', content: 'yes' };

  it.each<[string, readonly Json[], string]>([
    ['at the end', [user, rule], 'user system'],
    ['before an answer', [user, rule, assistant, user], 'user system assistant user'],
    ['behind results', [user, asked, told, rule], 'user assistant user system'],
    ['one after the other', [user, rule, { ...rule, role: 'developer' }], 'user system'],
    ['but not at the beginning', [rule, user], 'user'],
    ['but not before the user speaks again', [user, rule, user], 'user'],
    ['but not behind an answer', [user, assistant, rule, user], 'user assistant user'],
    ['but not before results', [user, asked, rule, told], 'user assistant user'],
  ])('of the system stay where Claude takes them: %s', (_, messages, roles) => {
    for (const model of ['claude-opus-4-8', 'claude-opus-5', 'claude-sonnet-5-5']) {
      const { system, turns } = said(messages, model);

      expect(turns.map(({ role }) => role).join(' ')).toBe(roles);
      expect(system === undefined).toBe(roles.includes('system'));
    }
  });

  it.each([
    'claude-3-5-sonnet-latest',
    'claude-opus-4-20250514',
    'claude-opus-4-7',
    'claude-haiku-4-5',
    'claude-sonnet-5',
    'deepseek-chat',
  ])('of the system move to the front for %s', (model) => {
    expect(said([user, rule], model)).toEqual({
      system: [text('Be brief.')],
      turns: [{ role: 'user', content: [text('Hi')] }],
    });
  });

  it('of one role that follow each other become one, and results of tools come first', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{"a":1}' } });
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const { turns } = said([
      ...question,
      { role: 'assistant', content: '', tool_calls: [call('a'), call('b')] },
      { role: 'tool', tool_call_id: 'a', content: [text('seen'), image] },
      { role: 'tool', tool_call_id: 'b', content: '' },
      { role: 'user', content: 'And?' },
      { role: 'user', content: 'Well?' },
    ]);

    expect(turns).toEqual([
      { role: 'user', content: [text('Hi')] },
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'f', input: { a: 1 } })),
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [
              text('seen'),
              { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'b' },
          text('And?'),
          text('Well?'),
        ],
      },
    ]);
  });

  it('put results first, even where the user spoke before the tool did', () => {
    const { turns } = said([
      { role: 'user', content: 'Wait.' },
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
    ]);

    expect(turns[0]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'seen' },
      text('Wait.'),
    ]);
  });

  it.each([
    ['', {}],
    ['{"a":[1]}', { a: [1] }],
    ['{"a":', { INVALID_JSON: '{"a":' }],
    ['[1]', { INVALID_JSON: '[1]' }],
  ])('with the arguments %j call with an object', (given, input) => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: given } };
    const { turns } = said([{ role: 'assistant', tool_calls: [call] }]);

    expect(turns[0]?.content).toEqual([{ type: 'tool_use', id: 'a', name: 'f', input }]);
  });

  it('send thinking back only with its signature, and before the content', () => {
    const signed = { type: 'thinking', thinking: '', signature: 'S' };
    const { turns } = said([
      {
        role: 'assistant',
        content: 'Yes.',
        reasoning_content: 'Hm.',
        content_blocks: [
          signed,
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'redacted_thinking', data: 'D' },
        ],
      },
    ]);

    expect(turns[0]?.content).toEqual([signed, { type: 'redacted_thinking', data: 'D' }, text('Yes.')]);
  });

  it.each([
    [{ role: 'function', name: 'f', content: 'x' }, ['invalid_request', null]],
    [{ role: 'tool', content: 'x' }, ['invalid_request', null]],
    [
      { role: 'assistant', function_call: { name: 'f' } },
      ['parameter_unsupported', 'messages[].function_call'],
    ],
    [{ role: 'assistant', audio: { id: 'a' } }, ['parameter_unsupported', 'messages[].audio']],
    [
      { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
      ['parameter_unsupported', 'messages[].content'],
    ],
  ])('such as %j are refused', (message, refused) => {
    expect(refusal({ messages: [message] })).toEqual(refused);
  });
});

describe('the end of a response', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['a_reason_of_tomorrow', 'stop'],
    [null, 'stop'],
  ])('for the reason %s is %s', (reason, finish) => {
    const { choices } = anthropicChat.answer({ stop_reason: reason, content: [] }, context);

    expect(choices).toMatchObject([{ finish_reason: finish }]);
  });

  it('has no usage where the provider’s is not sound', () => {
    const answer = (usage: unknown) => anthropicChat.answer({ content: [], usage }, context).usage;

    expect(answer({ input_tokens: 1 })).toBeUndefined();
    expect(answer({ input_tokens: -1, output_tokens: 1 })).toBeUndefined();
    expect(answer({ input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 1 })).toBeUndefined();
    expect(answer('x')).toBeUndefined();
  });
});
