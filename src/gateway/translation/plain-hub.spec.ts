import { expect, it } from 'vitest';
import { findProvider } from '../../providers/catalog/registry.js';
import { plainHub } from './plain-hub.js';

it('leaves out what only other dialects know, and nothing else', () => {
  const hub = {
    model: 'm',
    metadata: { context: 'kept' },
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'yes' },
        ],
        content_blocks: [{ type: 'thinking', thinking: 'hm', signature: 's' }],
        reasoning_content: 'hm',
      },
      { role: 'user', content: 'go on' },
    ],
    tools: [{ type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }],
  };

  expect(plainHub(hub, {})).toEqual({
    model: 'm',
    metadata: { context: 'kept' },
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'be brief' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'yes' }], reasoning_content: 'hm' },
      { role: 'user', content: 'go on' },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
  });
});

const OPENAI = findProvider('openai');

it('shortens a user that is longer than OpenAI takes, the same way each time', () => {
  const user = `user_${'a'.repeat(64)}_account_1_session_2`;
  const said = plainHub({ user }, OPENAI).user as string;

  expect(said).toHaveLength(64);
  expect(plainHub({ user }, OPENAI).user).toBe(said);
  expect(plainHub({ user: `${user}3` }, OPENAI).user).not.toBe(said);
  expect(plainHub({ user: 'u'.repeat(64) }, OPENAI).user).toBe('u'.repeat(64));
});

it.each([
  ['gpt-4o', 'high', null],
  ['gpt-4.1', 'none', null],
  ['gpt-5', 'none', null],
  ['gpt-5', 'minimal', 'minimal'],
  ['gpt-5-mini', 'xhigh', 'high'],
  ['gpt-5-pro', 'low', 'high'],
  ['gpt-5-chat-latest', 'low', null],
  ['gpt-5-codex', 'minimal', 'low'],
  ['gpt-5.1', 'none', 'none'],
  ['gpt-5.1', 'minimal', 'low'],
  ['gpt-5.1', 'xhigh', 'high'],
  ['gpt-5.1-codex', 'none', null],
  ['gpt-5.1-codex-max', 'max', 'xhigh'],
  ['openai/gpt-5.2', 'max', 'xhigh'],
  ['gpt-5.2-pro', 'low', 'medium'],
  ['o3-mini', 'none', null],
  ['o4-mini', 'xhigh', 'high'],
  ['o1-mini', 'low', null],
  ['openai/gpt-oss-120b', 'max', 'high'],
  ['llama-3.3-70b-versatile', 'none', null],
  ['llama-3.3-70b-versatile', 'high', null],
  ['mistral-large-latest', 'none', null],
])('says to %s of the effort %s what it takes: %s', (model, effort, said) => {
  const hub = { model, thinking: { type: 'enabled' }, output_config: { effort }, reasoning_effort: effort };

  expect(plainHub(hub, OPENAI)).toEqual({ model, ...(said !== null && { reasoning_effort: said }) });
});

it('leaves an effort in OpenAI’s own values unchanged', () => {
  const hub = { model: 'llama', reasoning_effort: 'low' };

  expect(plainHub(hub, OPENAI)).toEqual(hub);
});

it.each([
  ['openai', 'call_'.padEnd(46, 'a'), /^[\w-]{40}$/],
  ['openai', 'functions.a:0', /^functions\.a:0$/],
  ['mistral-ai', 'toolu_01AbCdEf', /^[A-Za-z0-9]{9}$/],
])('has ids of calls that %s takes', (provider, id, fitting) => {
  const call = { type: 'function', function: { name: 'f', arguments: '{}' } };
  const hub = {
    messages: [
      {
        role: 'assistant',
        tool_calls: [
          { id, ...call },
          { id: `${id}2`, ...call },
        ],
      },
      { role: 'tool', tool_call_id: id, content: 'x' },
    ],
  };
  const [asked, answered] = plainHub(hub, findProvider(provider)).messages as [
    { tool_calls: { id: string }[] },
    { tool_call_id: string },
  ];

  expect(asked.tool_calls[0]?.id).toMatch(fitting);
  expect(asked.tool_calls[1]?.id).not.toBe(asked.tool_calls[0]?.id);
  expect(answered.tool_call_id).toBe(asked.tool_calls[0]?.id);
});

it.each([{}, { messages: 'none', tools: null }, { messages: [null, 1, 'x', { content: [null, 2] }] }])(
  'leaves %j as it is',
  (hub) => {
    expect(plainHub(hub, { reasoningField: null })).toEqual(hub);
  },
);

it.each([
  ['deepseek', { reasoning_content: 'hm' }],
  ['groq', { reasoning: 'hm' }],
  ['cerebras', { reasoning: 'hm' }],
  ['mistral-ai', {}],
])('gives %s the reasoning of earlier turns where it takes it', (provider, reasoning) => {
  const said = { role: 'assistant', content: 'yes' };
  const hub = { messages: [{ ...said, reasoning_content: 'hm' }, said] };

  expect(plainHub(hub, findProvider(provider))).toEqual({ messages: [{ ...said, ...reasoning }, said] });
});
