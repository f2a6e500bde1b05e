import { expect, it } from 'vitest';
import { findProvider } from '../../providers/registry.js';
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
