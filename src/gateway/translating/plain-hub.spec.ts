import { expect, it } from 'vitest';
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

  expect(plainHub(hub)).toEqual({
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
    expect(plainHub(hub)).toEqual(hub);
  },
);
