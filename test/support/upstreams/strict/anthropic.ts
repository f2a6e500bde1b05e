import { z } from 'zod';
import { type Asked, json, type Rule, sse, type StrictDialect } from './rules.js';
import { pieces, SIGNATURE, THOUGHT, USAGE } from './scene.js';

const MESSAGES = 'https://platform.claude.com/docs/en/api/messages/create';
const TOOLS = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use';
const THINKING = 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking';
const CACHING = 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching';

const mark = z
  .strictObject({
    type: z.literal('ephemeral'),
    ttl: z.enum(['5m', '1h']).optional(),
    scope: z.literal('global').optional(),
  })
  .nullish();
const marked = { cache_control: mark };
const words = z.string().regex(/\S/, 'text content blocks must contain non-whitespace text');
const text = z.strictObject({
  type: z.literal('text'),
  text: words,
  citations: z.array(z.looseObject({})).nullish(),
  ...marked,
});
const image = z.strictObject({
  type: z.literal('image'),
  source: z.union([
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.base64(),
    }),
    z.strictObject({ type: z.literal('url'), url: z.string().startsWith('http') }),
  ]),
  ...marked,
});
const id = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id,
  name,
  input: z.record(z.string(), z.unknown()),
  ...marked,
});
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: id,
  content: z.union([z.string(), z.array(z.union([text, image]))]).optional(),
  is_error: z.boolean().optional(),
  ...marked,
});
const thinking = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });
const said = z.union([text, toolUse, thinking, redacted]);
const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([words, z.array(z.union([text, image, toolResult])).min(1)]),
  }),
  z.strictObject({ role: z.literal('assistant'), content: z.union([words, z.array(said).min(1)]) }),
  z.strictObject({ role: z.literal('system'), content: z.union([words, z.array(text).min(1)]) }),
]);

const shape = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1).optional(),
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(text)]).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('custom').optional(),
        name,
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal('object') }),
        strict: z.boolean().optional(),
        eager_input_streaming: z.boolean().nullish(),
        // https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
        defer_loading: z.boolean().optional(),
        ...marked,
      }),
    )
    .optional(),
  tool_choice: z
    .union([
      z.strictObject({ type: z.enum(['auto', 'any']), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('none') }),
      z.strictObject({ type: z.literal('tool'), name, disable_parallel_tool_use: z.boolean().optional() }),
    ])
    .optional(),
  thinking: z
    .union([
      z.strictObject({
        type: z.literal('enabled'),
        budget_tokens: z.int().min(1024),
        display: z.enum(['summarized', 'omitted']).optional(),
      }),
      z.strictObject({ type: z.literal('adaptive'), display: z.enum(['summarized', 'omitted']).optional() }),
      z.strictObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
      format: z.looseObject({}).nullish(),
    })
    .optional(),
  context_management: z.strictObject({ edits: z.array(z.looseObject({ type: z.string() })) }).optional(),
  metadata: z.strictObject({ user_id: z.string().max(512).nullish() }).optional(),
  stop_sequences: z.array(z.string().min(1)).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  cache_control: mark,
});
type Body = z.infer<typeof shape>;
type Block = Exclude<Body['messages'][number]['content'], string>[number];

const blocksOf = ({ content }: Body['messages'][number]): readonly Block[] =>
  typeof content === 'string' ? [] : content;
const resultsOf = (blocks: readonly Block[]) => blocks.filter((block) => block.type === 'tool_result');
const isThinking = ({ thinking: asked }: Body): boolean => asked !== undefined && asked.type !== 'disabled';
/** Turns of the user and the assistant. Instructions in between belong to no turn. */
const turnsOf = ({ messages }: Body) => messages.filter(({ role }) => role !== 'system');

/** The newest version of the API. https://platform.claude.com/docs/en/api/versioning */
const LATEST = '2026-10-21';

const rules: readonly Rule<Body>[] = [
  {
    says: 'max_tokens: Field required',
    url: MESSAGES,
    isBroken: ({ max_tokens: limit }, { path }) => (limit === undefined) !== path.endsWith('/count_tokens'),
  },
  {
    says: 'anthropic-version: header is required',
    url: 'https://platform.claude.com/docs/en/api/versioning',
    isBroken: (_, { header }) => !['2023-06-01', LATEST].includes(header('anthropic-version') ?? ''),
  },
  {
    says: '`temperature`, `top_p` and `top_k` are not parameters of this version',
    url: 'https://platform.claude.com/docs/en/api/migration-2026-10-21',
    isBroken: ({ temperature, top_p, top_k }, { header }) =>
      header('anthropic-version') === LATEST && (temperature ?? top_p ?? top_k) !== undefined,
  },
  {
    // Claude Code 2.1.332 names the second of the betas alone.
    says: 'messages: a message with the role "system" needs the beta mid-conversation-system-2026-04-07 or mid-conversation-tool-changes-2026-07-01',
    url: MESSAGES,
    isBroken: ({ messages }, { header }) =>
      messages.some(({ role }) => role === 'system') &&
      !/mid-conversation-(?:system|tool-changes)/.test(header('anthropic-beta') ?? ''),
  },
  {
    says: 'context_management: Extra inputs are not permitted',
    url: 'https://platform.claude.com/docs/en/build-with-claude/context-editing',
    isBroken: ({ context_management: edits }, { header }) =>
      edits !== undefined && !header('anthropic-beta')?.includes('context-management-2025-06-27'),
  },
  {
    says: 'messages: first message must use the "user" role',
    url: MESSAGES,
    isBroken: (body) => turnsOf(body)[0]?.role !== 'user',
  },
  {
    says: '`tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` block must have a corresponding `tool_result` block in the next message, before any text.',
    url: TOOLS,
    isBroken: (body) => !areAnswered(turnsOf(body)),
  },
  {
    says: 'Expected `thinking` or `redacted_thinking`, but found another block. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
    url: THINKING,
    isBroken: (body) => {
      if (body.thinking?.type !== 'enabled') return false;
      const last = turnsOf(body).findLast(({ role }) => role === 'assistant');
      const blocks = last ? blocksOf(last) : [];
      return blocks.some(({ type }) => type === 'tool_use') && !/thinking$/.test(blocks[0]?.type ?? '');
    },
  },
  {
    says: 'Invalid `signature` in `thinking` block',
    url: THINKING,
    isBroken: (body) =>
      turnsOf(body)
        .flatMap(blocksOf)
        .some(
          (block) =>
            block.type === 'thinking' && (block.signature !== SIGNATURE || block.thinking !== THOUGHT),
        ),
  },
  {
    says: '`max_tokens` must be greater than `thinking.budget_tokens`',
    url: THINKING,
    isBroken: ({ thinking: asked, max_tokens: limit = Infinity }) =>
      asked?.type === 'enabled' && asked.budget_tokens >= limit,
  },
  {
    says: '`temperature` may only be set to 1, `top_p` only from 0.95, and `top_k` not at all when thinking is enabled.',
    url: THINKING,
    isBroken: (body) =>
      isThinking(body) &&
      ((body.temperature ?? 1) !== 1 || (body.top_p ?? 1) < 0.95 || body.top_k !== undefined),
  },
  {
    says: 'Thinking may not be enabled when tool_choice forces tool use.',
    url: THINKING,
    isBroken: (body) => isThinking(body) && ['any', 'tool'].includes(body.tool_choice?.type ?? ''),
  },
  {
    says: 'adaptive thinking is not supported on this model',
    url: 'https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking',
    isBroken: ({ model, thinking: asked }) => asked?.type === 'adaptive' && !/-4-[6-9]/.test(model),
  },
  {
    says: 'A maximum of 4 blocks with cache_control may be provided.',
    url: CACHING,
    isBroken: (body) => (JSON.stringify(body).match(/"cache_control":\{/g)?.length ?? 0) > 4,
  },
  {
    says: 'messages: final assistant content cannot end with trailing whitespace',
    url: MESSAGES,
    isBroken: ({ messages }) => {
      const last = messages.at(-1);
      return last?.role === 'assistant' && typeof last.content === 'string' && /\s$/.test(last.content);
    },
  },
  {
    says: 'tools: Tool names must be unique.',
    url: TOOLS,
    isBroken: ({ tools = [] }) => new Set(tools.map((tool) => tool.name)).size < tools.length,
  },
];

function areAnswered(turns: Body['messages']): boolean {
  return turns.every((turn, index) => {
    const blocks = blocksOf(turn);
    const called = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const before = turns[index - 1];
    const expected = before
      ? blocksOf(before).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
      : [];
    const results = resultsOf(blocks);
    const areFirst = results.every((result, position) => blocks[position] === result);
    const ids = results.map(({ tool_use_id }) => tool_use_id);
    const isLast = index === turns.length - 1;
    return areFirst && ids.toSorted().join() === expected.toSorted().join() && !(isLast && called.length > 0);
  });
}

const usage = {
  input_tokens: USAGE.input - USAGE.cached - USAGE.written,
  cache_read_input_tokens: USAGE.cached,
  cache_creation_input_tokens: USAGE.written,
  cache_creation: { ephemeral_5m_input_tokens: USAGE.written, ephemeral_1h_input_tokens: 0 },
  output_tokens: USAGE.output,
  service_tier: 'standard',
};

function contentOf(body: Body, { moveOf }: Asked) {
  const hasResults = body.messages.some((turn) => resultsOf(blocksOf(turn)).length > 0);
  const move = moveOf(
    (body.tools ?? []).map((tool) => tool.name),
    hasResults,
  );
  const thought = { type: 'thinking' as const, thinking: THOUGHT, signature: SIGNATURE };
  return [
    ...(isThinking(body) ? [thought] : []),
    { type: 'text' as const, text: move.text },
    ...move.calls.map((call, index) => ({
      type: 'tool_use' as const,
      id: `toolu_01AbCdEf${index}GhIjKlMnOpQr`,
      ...call,
    })),
  ];
}
type Said = ReturnType<typeof contentOf>[number];

function answer(body: Body, asked: Asked) {
  if (asked.path.endsWith('/count_tokens')) return json({ input_tokens: USAGE.input });
  const content = contentOf(body, asked);
  const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const head = { id: 'msg_01', type: 'message', role: 'assistant', model: body.model, stop_sequence: null };
  if (body.stream !== true) return json({ ...head, content, stop_reason, usage });
  return sse([
    {
      type: 'message_start',
      message: { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: 'ping' },
    ...content.flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: USAGE.output },
    },
    { type: 'message_stop' },
  ]);
}

function blockEvents(block: Said, index: number): object[] {
  const delta = (fields: object) => ({ type: 'content_block_delta', index, delta: fields });
  const stop = { type: 'content_block_stop', index };
  const start = (content_block: object) => ({ type: 'content_block_start', index, content_block });
  if (block.type === 'text')
    return [
      start({ type: 'text', text: '' }),
      ...pieces(block.text).map((piece) => delta({ type: 'text_delta', text: piece })),
      stop,
    ];
  if (block.type === 'thinking')
    return [
      start({ type: 'thinking', thinking: '', signature: '' }),
      ...pieces(block.thinking).map((piece) => delta({ type: 'thinking_delta', thinking: piece })),
      delta({ type: 'signature_delta', signature: block.signature }),
      stop,
    ];
  const parts = pieces(JSON.stringify(block.input));
  return [
    start({ ...block, input: {} }),
    ...parts.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
    stop,
  ];
}

/** Anthropic's messages, and its counting of tokens. */
export const anthropic: StrictDialect<Body> = {
  paths: /\/messages(\/count_tokens)?$/,
  shape,
  rules,
  answer,
  refusal: (message) =>
    json({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' }, 400),
};
