import type Anthropic from '@anthropic-ai/sdk';
import { PIXEL } from '../strict-places.js';

/**
 * What Claude Code 2.1.197 sends, recorded with `ANTHROPIC_BASE_URL` set to a server that answers as Anthropic does.
 * Texts are ours and the tools are fewer; fields, headers, marks and the order of blocks are its own.
 * https://www.npmjs.com/package/@anthropic-ai/claude-code, https://code.claude.com/docs/en/llm-gateway
 */
export const HEADERS = {
  'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)',
  'anthropic-version': '2023-06-01',
  'x-app': 'cli',
  'x-claude-code-session-id': '67b84954-36fb-41d7-a28a-1d18a4b24c0b',
  'anthropic-dangerous-direct-browser-access': 'true',
  'anthropic-beta':
    'claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,effort-2025-11-24',
};

type Beta = Anthropic.Beta.Messages.MessageCreateParamsNonStreaming;

type Message = Beta['messages'][number];

const MARK = { type: 'ephemeral' } as const;
const SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

const TOOLS: Beta['tools'] = [
  {
    name: 'Bash',
    description: 'Executes a command and returns its output.',
    input_schema: {
      $schema: SCHEMA,
      type: 'object',
      properties: {
        command: { description: 'The command to execute', type: 'string' },
        timeout: { description: 'Timeout in milliseconds', type: 'number' },
        run_in_background: { description: 'Do not wait for its end', type: 'boolean' },
      },
      required: ['command'],
      additionalProperties: false,
    },
  },
  {
    name: 'TaskUpdate',
    description: 'Updates a task.',
    input_schema: {
      $schema: SCHEMA,
      type: 'object',
      properties: {
        taskId: { type: 'string', minLength: 1, maxLength: 64 },
        status: {
          anyOf: [
            { type: 'string', enum: ['pending', 'completed'] },
            { type: 'string', const: 'deleted' },
          ],
        },
        metadata: { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} },
        addBlocks: { type: 'array', items: { type: 'string', pattern: '^[0-9]+$' }, maxItems: 32 },
      },
      required: ['taskId'],
      additionalProperties: false,
    },
  },
  {
    name: 'Read',
    description: 'Reads a file from the local filesystem.',
    input_schema: {
      $schema: SCHEMA,
      type: 'object',
      properties: {
        file_path: { description: 'The absolute path to the file to read', type: 'string' },
        offset: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 },
        limit: { type: 'integer', exclusiveMinimum: 0, maximum: 9_007_199_254_740_991 },
        level: { type: 'string', default: 'normal', format: 'uri' },
      },
      required: ['file_path'],
      additionalProperties: false,
    },
  },
];

/** Its thinking: adaptive for the newest models, a budget for those before them, none for its small side calls. */
export const THINKING = {
  adaptive: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  budget: { thinking: { type: 'enabled', budget_tokens: 31_999 } },
  off: { thinking: { type: 'disabled' } },
} as const;

/** The first request of a session. */
export function firstRequest(model: string, thinking: keyof typeof THINKING): Beta {
  return {
    model,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nToday is a day.\n</system-reminder>' },
          { type: 'text', text: 'read a.txt and a.png', cache_control: MARK },
        ],
      },
      { role: 'system', content: 'Available agent types for the Agent tool: claude.' },
    ],
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.197.7d5; cc_entrypoint=sdk-cli;' },
      { type: 'text', text: 'You are an agent.', cache_control: MARK },
      { type: 'text', text: '\nYou help with software.\n', cache_control: MARK },
    ],
    tools: TOOLS,
    metadata: {
      user_id: JSON.stringify({
        device_id: '3106f8015a52d47f424bbcc96dc5f7a68793472daf7435eeb459bfee9ab285fd',
        account_uuid: '',
        session_id: '67b84954-36fb-41d7-a28a-1d18a4b24c0b',
      }),
    },
    max_tokens: 64_000,
    ...(thinking === 'off'
      ? {}
      : { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }),
    ...THINKING[thinking],
  };
}

/** The request with the results of the tools that the answer has called: an image, and a text, in this order. */
export function nextRequest(before: Beta, answer: readonly Anthropic.Beta.BetaContentBlock[]): Beta {
  const ids = answer.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  const [text = '', image = ''] = ids;
  const source = { type: 'base64', data: PIXEL, media_type: 'image/png' } as const;
  return {
    ...before,
    messages: [
      ...before.messages.map(unmarked),
      { role: 'assistant', content: answer as Anthropic.Beta.BetaContentBlockParam[] },
      {
        role: 'user',
        content: [
          { tool_use_id: image, type: 'tool_result', content: [{ type: 'image', source }] },
          {
            tool_use_id: text,
            type: 'tool_result',
            content: 'sunny in Rome',
            is_error: false,
            cache_control: MARK,
          },
        ],
      },
    ],
  };
}

/** The request with the user's next question. */
export function thirdRequest(before: Beta, answer: readonly Anthropic.Beta.BetaContentBlock[]): Beta {
  const content = [{ type: 'text' as const, text: 'And tomorrow?', cache_control: MARK }];
  return {
    ...before,
    messages: [
      ...before.messages.map(unmarked),
      { role: 'assistant', content: answer as Anthropic.Beta.BetaContentBlockParam[] },
      { role: 'user', content },
    ],
  };
}

/** The mark of the cache moves to the last message. */
const unmarked = (message: Message): Message =>
  JSON.parse(
    JSON.stringify(message, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  ) as Message;
