import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import type { Context } from '../../translation.js';
import { messagesFormat as shape } from './index.js';

const context: Context = {
  id: 'x-1',
  created: 1,
  model: 'some-model',
  isStreamed: false,
  fields: {},
  isStrict: false,
};
/** The model itself calls the tool. */
const caller = { type: 'direct' };
const question = [{ role: 'user', content: 'Hi' }];

interface TranslatedMessages extends Json {
  readonly messages: readonly Json[];
}

const hub = (body: Json, model = context.model): TranslatedMessages =>
  shape.request(
    { model, max_tokens: 9, messages: question, ...body },
    { ...context, model },
  ) as TranslatedMessages;

function refusal(body: Json): unknown {
  try {
    return hub(body);
  } catch (error) {
    const { code, details } = error as { code: string; details: Json };
    return [code, details.parameter ?? null];
  }
}

const turns = (content: unknown, role = 'user') => hub({ messages: [{ role, content }] }).messages;

describe('parameters of an Anthropic client', () => {
  it.each([
    [{ stop_sequences: ['a'] }, { stop: ['a'] }],
    [{ metadata: { user_id: 'u' } }, { user: 'u' }],
    [
      { temperature: 1, top_k: 3, top_p: 0.5 },
      { temperature: 1, top_k: 3, top_p: 0.5 },
    ],
    [{ service_tier: 'standard_only' }, { service_tier: 'default' }],
    [{ output_config: { effort: 'max' } }, { reasoning_effort: 'max', output_config: { effort: 'max' } }],
    [{ cache_control: { type: 'ephemeral' }, context_management: { edits: [] }, speed: 'standard' }, {}],
    [{ something_new: 1 }, { something_new: 1 }],
  ])('%j are sent as %j', (body, said) => {
    expect(hub(body)).toEqual({ model: 'some-model', max_tokens: 9, messages: question, ...said });
  });

  it.each([
    [{ type: 'enabled', budget_tokens: 1_024 }, null, 'minimal'],
    [{ type: 'enabled', budget_tokens: 10_000 }, null, 'high'],
    [{ type: 'enabled', budget_tokens: 31_999 }, null, 'xhigh'],
    [{ type: 'enabled', budget_tokens: 99_999 }, null, 'xhigh'],
    [{ type: 'adaptive' }, null, undefined],
    [{ type: 'adaptive' }, 'max', 'max'],
    [{ type: 'disabled' }, 'low', 'none'],
  ])('keep the thinking %j beside the effort that it represents', (thinking, effort, said) => {
    const found = hub({ thinking, ...(effort && { output_config: { effort } }) });

    expect(found.thinking).toEqual(thinking);
    expect(found.reasoning_effort).toBe(said);
  });

  it.each([
    ['gpt-5', 'max_completion_tokens'],
    ['openai/o3-mini', 'max_completion_tokens'],
    ['gpt-4o', 'max_tokens'],
    ['mistral-large', 'max_tokens'],
  ])('name the limit of %s as it must be: %s', (model, name) => {
    expect(hub({}, model)).toMatchObject({ [name]: 9 });
  });

  it.each([['output_config'], ['output_format']])('request JSON by a schema in %s', (place) => {
    const schema = { type: 'object' };
    const format = { type: 'json_schema', schema };
    const said = hub({ [place]: place === 'output_config' ? { format } : format });

    expect(said.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    });
  });

  it.each([
    [{ container: 'c' }, ['parameter_unsupported', 'container']],
    [{ mcp_servers: [{ url: 'x' }] }, ['parameter_unsupported', 'mcp_servers']],
    [{ speed: 'fast' }, ['parameter_unsupported', 'speed']],
    [{ inference_geo: 'us' }, ['parameter_unsupported', 'inference_geo']],
    [
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      ['parameter_unsupported', 'tools[].web_search_20250305'],
    ],
    [{ max_tokens: null }, ['invalid_request', 'max_tokens']],
    [{ messages: 'x' }, ['invalid_request', 'messages']],
    [{ tool_choice: { type: 'tool' } }, ['invalid_request', null]],
    [{ output_format: { type: 'xml' } }, ['invalid_request', null]],
  ])('%j are refused', (body, refused) => {
    expect(refusal(body)).toEqual(refused);
  });
});

describe('tools of an Anthropic client', () => {
  it('are functions, with marks and examples kept', () => {
    const mark = { type: 'ephemeral' };
    const schema = { type: 'object', properties: {} };
    const tool = { name: 'f', description: 'd', input_schema: schema, strict: true, cache_control: mark };
    const shown = {
      type: 'custom',
      name: 'g',
      input_schema: schema,
      input_examples: [{ a: 1 }],
      defer_loading: true,
    };

    expect(hub({ tools: [tool, shown] }).tools).toEqual([
      {
        type: 'function',
        function: { name: 'f', description: 'd', parameters: schema, strict: true },
        cache_control: mark,
      },
      {
        type: 'function',
        function: { name: 'g', description: 'Example of its input: {"a":1}', parameters: schema },
      },
    ]);
  });

  it.each([
    [{ type: 'auto' }, { tool_choice: 'auto' }],
    [
      { type: 'any', disable_parallel_tool_use: true },
      { tool_choice: 'required', parallel_tool_calls: false },
    ],
    [{ type: 'none' }, { tool_choice: 'none' }],
    [{ type: 'tool', name: 'f' }, { tool_choice: { type: 'function', function: { name: 'f' } } }],
  ])('are chosen as %j', (choice, said) => {
    expect(hub({ tool_choice: choice })).toMatchObject(said);
  });
});

describe('turns of an Anthropic client', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } };
  const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } };

  it('keep system blocks and their marks', () => {
    const system = [
      { type: 'text', text: 'A' },
      { type: 'text', text: 'B', cache_control: { type: 'ephemeral' } },
    ];

    expect(hub({ system }).messages[0]).toEqual({ role: 'system', content: system });
    expect(hub({ system: 'A' }).messages[0]).toEqual({ role: 'system', content: 'A' });
    expect(turns('Now be brief.', 'system')).toEqual([{ role: 'system', content: 'Now be brief.' }]);
  });

  it.each([
    [image, imagePart],
    [
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ],
    [
      {
        type: 'document',
        title: 'a.pdf',
        citations: { enabled: true },
        source: { type: 'base64', media_type: 'application/pdf', data: 'QQ==' },
      },
      {
        type: 'file',
        file: { file_data: 'data:application/pdf;base64,QQ==', filename: 'a.pdf' },
        citations: { enabled: true },
      },
    ],
    [
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'file', file: { file_url: 'https://example.com/a.pdf', mime_type: 'application/pdf' } },
    ],
    [
      { type: 'document', source: { type: 'file', file_id: 'f' } },
      { type: 'file', file: { file_id: 'f' } },
    ],
  ])('say the block %j as a part', (block, part) => {
    expect(turns([block])).toEqual([{ role: 'user', content: [part] }]);
  });

  it('say documents of content and search results as what they contain', () => {
    const content = [{ type: 'text', text: 'A' }, image];
    const search = { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'C' }] };

    expect(turns([{ type: 'document', source: { type: 'content', content } }, search])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'A' }, imagePart, { type: 'text', text: 'T\nS\nC' }] },
    ]);
  });

  it('put results of tools into messages of their own, and show images after them', () => {
    const said = turns([
      { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'seen' }, image] },
      { type: 'tool_result', tool_use_id: 'b', content: 'no such file', is_error: true },
      { type: 'tool_result', tool_use_id: 'c', content: 'Error: no', is_error: true },
      { type: 'tool_result', tool_use_id: 'd', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Go on.' },
    ]);

    expect(said).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [
          { type: 'text', text: 'Error:' },
          { type: 'text', text: 'no such file' },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: 'Error: no' },
      { role: 'tool', tool_call_id: 'd', content: '', cache_control: { type: 'ephemeral' } },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Shown by the tool call a:' },
          imagePart,
          { type: 'text', text: 'Go on.' },
        ],
      },
    ]);
  });

  it('say where the result of a tool is that gave only an image', () => {
    const content = [{ type: 'tool_result', tool_use_id: 'a', content: [image] }];

    expect(turns(content)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'The result is shown in the next message.' },
      { role: 'user', content: [{ type: 'text', text: 'Shown by the tool call a:' }, imagePart] },
    ]);
  });

  it('keep what an assistant thought and called', () => {
    const signed = { type: 'thinking', thinking: 'Hm. ', signature: 'S' };
    const said = turns(
      [
        signed,
        { type: 'thinking', thinking: 'So.', signature: '' },
        { type: 'redacted_thinking', data: 'D' },
        {
          type: 'tool_use',
          id: 'a',
          name: 'f',
          input: { x: 1 },
          extra_content: { google: { thought_signature: 'T' } },
        },
      ],
      'assistant',
    );

    expect(said).toEqual([
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm. So.',
        content_blocks: [signed, { type: 'redacted_thinking', data: 'D' }],
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'f', arguments: '{"x":1}' },
            extra_content: { google: { thought_signature: 'T' } },
          },
        ],
      },
    ]);
  });

  it.each([
    [
      [{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }],
      'assistant',
      'parameter_unsupported',
    ],
    [[{ type: 'container_upload', file_id: 'f' }], 'user', 'parameter_unsupported'],
    [[{ type: 'tool_result' }], 'user', 'invalid_request'],
    [[{ type: 'image', source: { type: 'base64' } }], 'user', 'invalid_request'],
    [[7], 'user', 'invalid_request'],
    ['x', 'tool', 'invalid_request'],
  ])('refuse %j of %s', (content, role, code) => {
    expect(refusal({ messages: [{ role, content }] })).toContain(code);
  });
});

describe('a response to an Anthropic client', () => {
  const answer = (message: Json, finish = 'stop', others: Json = {}) =>
    shape.answer(
      { id: 'c1', model: 'm', choices: [{ message, finish_reason: finish }], ...others },
      {},
      context,
    );

  it('has every field that the SDK’s message has', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };

    expect(answer({ content: 'Hello' }, 'stop', { usage, service_tier: 'default' })).toEqual({
      id: 'c1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      container: null,
      diagnostics: null,
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 30,
        cache_creation_input_tokens: 10,
        cache_read_input_tokens: 60,
        output_tokens: 20,
        output_tokens_details: { thinking_tokens: 5 },
        server_tool_use: null,
        cache_creation: null,
        inference_geo: null,
        service_tier: 'standard',
        speed: null,
      },
    });
  });

  it('thinks, speaks and calls, in this order', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } };
    const { content, stop_reason: reason } = answer({
      content: 'Hello',
      reasoning_content: 'Hm.',
      tool_calls: [call],
    });

    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'a', caller, name: 'f', input: { x: 1 } },
    ]);
    expect(reason).toBe('tool_use');
  });

  it('carries what a provider attached to a call, so that the client can send it back', () => {
    const extra = { google: { thought_signature: 'T' } };
    const call = { id: 'a', function: { name: 'f', arguments: '{"x":' }, extra_content: extra };

    expect(answer({ tool_calls: [call] }).content).toEqual([
      {
        type: 'tool_use',
        id: 'a',
        caller,
        name: 'f',
        input: { INVALID_JSON: '{"x":' },
        extra_content: extra,
      },
    ]);
  });

  it('keeps the text that blocks of thinking come without', () => {
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'S' };

    expect(answer({ content: 'Hello', reasoning_content: 'Hm.', content_blocks: [signed] }).content).toEqual([
      signed,
      { type: 'text', text: 'Hello' },
    ]);
  });

  it('signs thinking with an empty signature where its provider signs nothing', () => {
    const content_blocks = [{ type: 'thinking', thinking: 'Hm.' }];

    expect(answer({ content: 'Hello', content_blocks }).content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'Hello' },
    ]);
  });

  it('has an empty input where the arguments of a call are null', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: 'null' } };

    expect(answer({ tool_calls: [call] }).content).toEqual([
      { type: 'tool_use', id: 'a', caller, name: 'f', input: {} },
    ]);
  });

  it('has Mistral’s reasoning as thinking, and not in its text', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'Hello' },
    ];

    expect(answer({ content }).content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'text', text: 'Hello' },
    ]);
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['content_filter', 'refusal'],
    ['something', 'end_turn'],
  ])('that ended with %s says %s', (finish, reason) => {
    expect(answer({ content: 'x' }, finish).stop_reason).toBe(reason);
  });

  it('returns a refusal as text where the model wrote one, and as the stop reason where it was stopped', () => {
    const refused = answer({ content: null, refusal: 'I will not.' });
    const stopped = answer({ content: 'Well', refusal: 'Harmful.' }, 'content_filter');

    expect(refused.content).toEqual([{ type: 'text', text: 'I will not.' }]);
    expect(refused.stop_reason).toBe('refusal');
    expect(stopped.content).toEqual([{ type: 'text', text: 'Well' }]);
    expect(stopped.stop_details).toEqual({ type: 'refusal', category: null, explanation: 'Harmful.' });
  });
});

describe('a stream to an Anthropic client', () => {
  const delta = (said: Json, finish: string | null = null) => ({
    id: 'c1',
    model: 'm',
    choices: [{ index: 0, delta: said, finish_reason: finish }],
  });
  const told = (chunks: readonly Json[]) => {
    const stream = shape.open({}, context);
    const events = [...chunks.flatMap((chunk) => stream.chunk(chunk)), ...stream.end()];
    return events.map(({ data }) => JSON.parse(data));
  };

  it('has Mistral’s reasoning as thinking, and not in its text', () => {
    const thought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
    const events = told([
      delta({ role: 'assistant', content: '' }),
      delta({ content: [thought('Hm')] }),
      delta({ content: [thought('.'), { type: 'text', text: 'Hel' }] }),
      delta({ content: 'lo' }, 'stop'),
    ]);

    expect(events.filter(({ type }) => type === 'content_block_delta').map((event) => event.delta)).toEqual([
      { type: 'thinking_delta', thinking: 'Hm' },
      { type: 'thinking_delta', thinking: '.' },
      { type: 'text_delta', text: 'Hel' },
      { type: 'text_delta', text: 'lo' },
    ]);
  });

  it('has Anthropic’s events in Anthropic’s order', () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } };
    const events = told([
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Hm.', content_blocks: [{ index: 0, delta: { thinking: 'Hm.' } }] }),
      delta({ content_blocks: [{ index: 0, delta: { signature: 'S' } }] }),
      delta({ content_blocks: [{ index: 1, delta: { data: 'D' } }] }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      delta({ tool_calls: [call] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] }),
      delta({}, 'tool_calls'),
      { id: 'c1', choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
    ]);

    expect(events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`))).toEqual([
      'message_start',
      'content_block_start 0',
      'content_block_delta 0',
      'content_block_delta 0',
      'content_block_stop 0',
      'content_block_start 1',
      'content_block_stop 1',
      'content_block_start 2',
      'content_block_delta 2',
      'content_block_delta 2',
      'content_block_stop 2',
      'content_block_start 3',
      'content_block_delta 3',
      'content_block_stop 3',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0].message).toMatchObject({ id: 'c1', model: 'm', content: [], stop_reason: null });
    expect(
      events.filter(({ content_block: block }) => block).map(({ content_block: block }) => block),
    ).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'redacted_thinking', data: 'D' },
      { type: 'text', text: '' },
      { type: 'tool_use', id: 'a', caller, name: 'f', input: {} },
    ]);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 7, output_tokens: 3 },
    });
  });

  it('names the stop sequence that was found, in the words of the hub or of vLLM', () => {
    for (const found of [{ stop_sequence: 'END' }, { stop_reason: 'END' }]) {
      const ended = told([{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...found }] }]);
      expect(ended.at(-2)).toMatchObject({ delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' } });
    }
    const token = told([{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: 128_009 }] }]);
    expect(token.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn', stop_sequence: null } });
  });

  it('reports usage that Groq puts into a field of its own', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    const ended = told([{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { usage } }]);

    expect(ended.at(-2)).toMatchObject({ usage: { input_tokens: 7, output_tokens: 3 } });
  });

  it('gives a call whose arguments are null no input', () => {
    const call = { index: 0, id: 'a', function: { name: 'f', arguments: '' } };
    const events = told([
      delta({ tool_calls: [call] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: 'null' } }] }),
    ]);

    expect(events.filter(({ type }) => type === 'content_block_delta')).toEqual([]);
  });

  it('has a start and an end even without content', () => {
    expect(told([]).map(({ type }) => type)).toEqual(['message_start', 'message_delta', 'message_stop']);
  });

  it('puts two thoughts that are signed apart into blocks of their own', () => {
    const signed = (text: string, signature: string) =>
      delta({ reasoning_content: text, content_blocks: [{ index: 0, delta: { signature } }] });
    const starts = told([signed('A', '1'), signed('B', '2')]).filter(
      ({ type }) => type === 'content_block_start',
    );

    expect(starts.map(({ index }) => index)).toEqual([0, 1]);
  });
});
