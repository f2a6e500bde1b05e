import { z } from 'zod';
import { framed } from '../../documented-texts.js';
import { type Asked, json, type Rule, type StrictDialect } from './rules.js';
import { pieces, SIGNATURE, THOUGHT, USAGE } from './scene.js';

const CONVERSE = 'https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html';
const TOOLS = 'https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html';
const THINKING =
  'https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html';

const cachePoint = z.strictObject({
  cachePoint: z.strictObject({ type: z.literal('default'), ttl: z.enum(['5m', '1h']).optional() }),
});
const text = z.strictObject({
  text: z.string().regex(/\S/, 'The text field in the ContentBlock object is blank.'),
});
const image = z.strictObject({
  image: z.strictObject({
    format: z.enum(['png', 'jpeg', 'gif', 'webp']),
    source: z.strictObject({ bytes: z.base64() }),
  }),
});
const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const toolUseId = z.string().regex(/^[a-zA-Z0-9_.:-]{1,64}$/);
const object = z.record(z.string(), z.unknown());
const block = z.union([
  text,
  image,
  cachePoint,
  z.strictObject({ toolUse: z.strictObject({ toolUseId, name, input: object }) }),
  z.strictObject({
    toolResult: z.strictObject({
      toolUseId,
      content: z.array(z.union([text, image, z.strictObject({ json: object })])).min(1),
      status: z.enum(['success', 'error']).optional(),
    }),
  }),
  z.strictObject({
    reasoningContent: z.union([
      z.strictObject({
        reasoningText: z.strictObject({ text: z.string(), signature: z.string().optional() }),
      }),
      z.strictObject({ redactedContent: z.base64() }),
    ]),
  }),
]);
const tool = z.union([
  cachePoint,
  z.strictObject({
    toolSpec: z.strictObject({
      name,
      description: z.string().min(1).optional(),
      inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal('object') }) }),
      strict: z.boolean().optional(),
    }),
  }),
]);

const shape = z.strictObject({
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(block).min(1) }))
    .min(1),
  system: z.array(z.union([text, cachePoint])).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(1).optional(),
      topP: z.number().min(0).max(1).optional(),
      stopSequences: z.array(z.string().min(1)).max(2500).optional(),
    })
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z.array(tool).min(1),
      toolChoice: z
        .union([
          z.strictObject({ auto: z.strictObject({}) }),
          z.strictObject({ any: z.strictObject({}) }),
          z.strictObject({ tool: z.strictObject({ name }) }),
        ])
        .optional(),
    })
    .optional(),
  additionalModelRequestFields: z
    .strictObject({
      thinking: z
        .union([
          // `display` is Anthropic's for both kinds of thinking, and Claude Code 2.1.332 sends it with both:
          // https://platform.claude.com/docs/en/build-with-claude/extended-thinking
          z.strictObject({
            type: z.literal('enabled'),
            budget_tokens: z.int().min(1024),
            display: z.string().optional(),
          }),
          z.strictObject({ type: z.literal('adaptive'), display: z.string().optional() }),
          z.strictObject({ type: z.literal('disabled') }),
        ])
        .optional(),
      output_config: z.strictObject({ effort: z.enum(['low', 'medium', 'high', 'max']) }).optional(),
      top_k: z.int().optional(),
      tool_choice: z.looseObject({}).optional(),
      anthropic_beta: z.array(z.string()).optional(),
    })
    .optional(),
  requestMetadata: z.record(z.string().max(256), z.string().max(256)).optional(),
  serviceTier: z.looseObject({}).optional(),
  outputConfig: z.looseObject({}).optional(),
});
type Body = z.infer<typeof shape>;
type Block = z.infer<typeof block>;

const usesIn = (content: readonly Block[]) =>
  content.flatMap((it) => ('toolUse' in it ? [it.toolUse.toolUseId] : []));
const resultsIn = (content: readonly Block[]) =>
  content.flatMap((it) => ('toolResult' in it ? [it.toolResult.toolUseId] : []));
const thinkingOf = (body: Body) => body.additionalModelRequestFields?.thinking;
const isThinking = (body: Body): boolean => ['enabled', 'adaptive'].includes(thinkingOf(body)?.type ?? '');

const rules: readonly Rule<Body>[] = [
  {
    says: 'A conversation must start with a user message, and roles must alternate between "user" and "assistant".',
    url: CONVERSE,
    isBroken: ({ messages }) =>
      messages.some(({ role }, index) => role !== (index % 2 === 0 ? 'user' : 'assistant')),
  },
  {
    says: 'Expected toolResult blocks for exactly the toolUse blocks of the previous turn.',
    url: TOOLS,
    isBroken: ({ messages }) =>
      messages.some(({ content }, index) => {
        const used = usesIn(messages[index - 1]?.content ?? []);
        return resultsIn(content).toSorted().join() !== used.toSorted().join();
      }) || usesIn(messages.at(-1)?.content ?? []).length > 0,
  },
  {
    says: 'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
    url: CONVERSE,
    isBroken: ({ messages, toolConfig }) =>
      !toolConfig && messages.some(({ content }) => usesIn(content).length + resultsIn(content).length > 0),
  },
  {
    says: 'Expected `thinking`, but found another block. When `thinking` is enabled, a final `assistant` message must start with a thinking block.',
    url: THINKING,
    isBroken: (body) => {
      const content = body.messages.findLast(({ role }) => role === 'assistant')?.content ?? [];
      const startsThinking = content[0] !== undefined && 'reasoningContent' in content[0];
      return thinkingOf(body)?.type === 'enabled' && usesIn(content).length > 0 && !startsThinking;
    },
  },
  {
    says: 'Invalid `signature` in `thinking` block',
    url: THINKING,
    isBroken: ({ messages }) =>
      messages
        .flatMap(({ content }) => content)
        .flatMap((it) =>
          'reasoningContent' in it && 'reasoningText' in it.reasoningContent
            ? [it.reasoningContent.reasoningText]
            : [],
        )
        .some((thought) => thought.signature !== SIGNATURE || thought.text !== THOUGHT),
  },
  {
    says: '`temperature` may only be set to 1 when thinking is enabled.',
    url: THINKING,
    isBroken: (body) => isThinking(body) && (body.inferenceConfig?.temperature ?? 1) !== 1,
  },
  {
    says: '`max_tokens` must be greater than `thinking.budget_tokens`.',
    url: THINKING,
    isBroken: (body) => {
      const thinking = thinkingOf(body);
      return (
        thinking?.type === 'enabled' &&
        thinking.budget_tokens >= (body.inferenceConfig?.maxTokens ?? Infinity)
      );
    },
  },
  {
    says: 'You have exceeded the limit of 4 cache points.',
    url: 'https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html',
    isBroken: (body) => (JSON.stringify(body).match(/"cachePoint"/g)?.length ?? 0) > 4,
  },
];

function answer(body: Body, { path, moveOf }: Asked) {
  const hasResults = body.messages.some(({ content }) => resultsIn(content).length > 0);
  const names = (body.toolConfig?.tools ?? []).flatMap((it) => ('toolSpec' in it ? [it.toolSpec.name] : []));
  const move = moveOf(names, hasResults);
  const calls = move.calls.map((call, index) => ({ toolUseId: `tooluse_${index}AbCdEfGhIjKlMn`, ...call }));
  const stopReason = calls.length > 0 ? 'tool_use' : 'end_turn';
  const usage = {
    inputTokens: USAGE.input - USAGE.cached - USAGE.written,
    cacheReadInputTokens: USAGE.cached,
    cacheWriteInputTokens: USAGE.written,
    outputTokens: USAGE.output,
    totalTokens: USAGE.input + USAGE.output,
  };
  const metrics = { latencyMs: 5 };
  const thought = { text: THOUGHT, signature: SIGNATURE };
  if (!path.endsWith('/converse-stream')) {
    const content = [
      ...(isThinking(body) ? [{ reasoningContent: { reasoningText: thought } }] : []),
      { text: move.text },
      ...calls.map((toolUse) => ({ toolUse })),
    ];
    return json({ output: { message: { role: 'assistant', content } }, stopReason, usage, metrics });
  }
  const deltas = [
    ...(isThinking(body)
      ? [
          [
            ...pieces(thought.text).map((it) => ({ reasoningContent: { text: it } })),
            { reasoningContent: { signature: thought.signature } },
          ],
        ]
      : []),
    pieces(move.text).map((it) => ({ text: it })),
  ];
  const events = [
    { messageStart: { role: 'assistant' } },
    ...deltas.flatMap((list, contentBlockIndex) => [
      ...list.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
      { contentBlockStop: { contentBlockIndex } },
    ]),
    ...calls.flatMap(({ input, ...toolUse }, index) => {
      const contentBlockIndex = deltas.length + index;
      return [
        { contentBlockStart: { contentBlockIndex, start: { toolUse } } },
        ...pieces(JSON.stringify(input)).map((it) => ({
          contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input: it } } },
        })),
        { contentBlockStop: { contentBlockIndex } },
      ];
    }),
    { messageStop: { stopReason } },
    { metadata: { usage, metrics } },
  ];
  const headers = [['content-type', 'application/vnd.amazon.eventstream']] as const;
  return { headers, body: framed('aws', events) };
}

/** Bedrock's Converse with a model of Anthropic. */
export const bedrock: StrictDialect<Body> = {
  paths: /\/model\/[^/]+\/converse(-stream)?$/,
  shape,
  rules,
  answer,
  refusal: (message) => ({
    ...json({ message }, 400),
    headers: [
      ['content-type', 'application/json'],
      ['x-amzn-errortype', 'ValidationException'],
    ],
  }),
};
