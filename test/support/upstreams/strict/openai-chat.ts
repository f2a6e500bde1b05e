import { z } from 'zod';
import { type Asked, json, type Rule, sse, type StrictDialect } from './rules.js';
import { type Move, pieces, USAGE } from './scene.js';

const CREATE = 'https://platform.openai.com/docs/api-reference/chat/create';
const REASONING = 'https://platform.openai.com/docs/guides/reasoning';
const STRICT = 'https://platform.openai.com/docs/guides/structured-outputs#supported-schemas';

const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const id = z.string().min(1).max(40);
const text = z.strictObject({ type: z.literal('text'), text: z.string() });
const shown = z.union([
  text,
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({
      url: z.string().regex(/^(https?:\/\/|data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$)/),
      detail: z.enum(['auto', 'low', 'high', 'original']).optional(),
    }),
  }),
]);
const texts = z.union([z.string(), z.array(text).min(1)]);
const call = z.strictObject({
  id,
  type: z.literal('function'),
  function: z.strictObject({ name, arguments: z.string() }),
});
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: texts, name: z.string().optional() }),
  z.strictObject({ role: z.literal('developer'), content: texts, name: z.string().optional() }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(shown).min(1)]),
    name: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: texts.nullish(),
    refusal: z.string().nullish(),
    name: z.string().optional(),
    tool_calls: z.array(call).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), content: texts, tool_call_id: id }),
]);
const schema = z.looseObject({ type: z.literal('object') });
const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name,
    description: z.string().max(100_000).optional(),
    parameters: schema.optional(),
    strict: z.boolean().nullish(),
  }),
});

const shape = z.strictObject({
  model: z.string(),
  messages: z.array(message).min(1),
  tools: z.array(tool).min(1).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  seed: z.int().nullish(),
  user: z.string().max(64).optional(),
  safety_identifier: z.string().max(64).optional(),
  prompt_cache_key: z.string().max(64).optional(),
  prompt_cache_retention: z.enum(['in-memory', '24h']).optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  store: z.boolean().nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'scale', 'priority']).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  response_format: z.looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) }).optional(),
  modalities: z.array(z.enum(['text', 'audio'])).nullish(),
});
type Body = z.infer<typeof shape>;

const reasons = ({ model }: Body): boolean => /^(o\d|gpt-5)/.test(model);

const rules: readonly Rule<Body>[] = [
  {
    says: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    url: CREATE,
    isBroken: (body) => reasons(body) && (body.max_tokens ?? null) !== null,
  },
  {
    says: "Unsupported parameter: 'temperature', 'top_p' and penalties are not supported with this model.",
    url: REASONING,
    isBroken: (body) => reasons(body) && [body.temperature, body.top_p].some((value) => (value ?? 1) !== 1),
  },
  {
    says: 'Unrecognized request argument supplied: reasoning_effort',
    url: REASONING,
    isBroken: (body) => !reasons(body) && (body.reasoning_effort ?? null) !== null,
  },
  {
    says: "Unsupported value: 'reasoning_effort' does not support this value with this model.",
    url: REASONING,
    isBroken: ({ model, reasoning_effort: effort }) =>
      /^(o\d|gpt-5(-|$))/.test(model) && (effort === 'none' || effort === 'xhigh'),
  },
  {
    says: "'tool_choice' and 'parallel_tool_calls' are only allowed when 'tools' are specified.",
    url: CREATE,
    isBroken: (body) =>
      !body.tools && (body.tool_choice !== undefined || body.parallel_tool_calls !== undefined),
  },
  {
    says: "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    url: CREATE,
    isBroken: (body) => body.stream !== true && (body.stream_options ?? null) !== null,
  },
  {
    says: 'An assistant message needs content or tool_calls.',
    url: CREATE,
    isBroken: ({ messages }) =>
      messages.some((it) => it.role === 'assistant' && !it.tool_calls && !it.content && !it.refusal),
  },
  {
    says: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id', and tool messages must respond to one.",
    url: 'https://platform.openai.com/docs/guides/function-calling',
    isBroken: ({ messages }) => !areAnswered(messages),
  },
  {
    says: "Invalid schema for function: in a strict schema, 'additionalProperties' must be false and 'required' must name every property.",
    url: STRICT,
    isBroken: ({ tools = [] }) =>
      tools.some(({ function: { strict, parameters } }) => strict === true && !isStrict(parameters)),
  },
];

function areAnswered(messages: Body['messages']): boolean {
  const open = new Set<string>();
  for (const it of messages) {
    if (it.role === 'tool') {
      if (!open.delete(it.tool_call_id)) return false;
      continue;
    }
    if (open.size > 0) return false;
    if (it.role === 'assistant') for (const called of it.tool_calls ?? []) open.add(called.id);
  }
  return open.size === 0;
}

function isStrict(parameters: z.infer<typeof schema> | undefined): boolean {
  const {
    additionalProperties,
    properties = {},
    required = [],
  } = (parameters ?? {}) as {
    additionalProperties?: unknown;
    properties?: object;
    required?: readonly string[];
  };
  return additionalProperties === false && Object.keys(properties).every((key) => required.includes(key));
}

const usage = {
  prompt_tokens: USAGE.input,
  completion_tokens: USAGE.output,
  total_tokens: USAGE.input + USAGE.output,
  prompt_tokens_details: { cached_tokens: USAGE.cached, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: USAGE.reasoning, audio_tokens: 0 },
};

const toolCalls = ({ calls }: Move) =>
  calls.map(({ name: called, input }, index) => ({
    index,
    id: `call_${index}AbCdEfGhIjKlMnOpQrStUvWx`,
    type: 'function',
    function: { name: called, arguments: JSON.stringify(input) },
  }));

function answer(body: Body, { moveOf }: Asked) {
  const hasResults = body.messages.some(({ role }) => role === 'tool');
  const move = moveOf(
    (body.tools ?? []).map(({ function: { name: known } }) => known),
    hasResults,
  );
  const calls = toolCalls(move);
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const head = { id: 'chatcmpl-1', created: 1_760_000_000, model: body.model, service_tier: 'default' };
  if (body.stream !== true) {
    const tool_calls = calls.map(({ id, type, function: call }) => ({ id, type, function: call }));
    const said = {
      role: 'assistant',
      content: move.text,
      refusal: null,
      annotations: [],
      ...(tool_calls.length > 0 && { tool_calls }),
    };
    return json({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: said, logprobs: null, finish_reason }],
      usage,
    });
  }
  const wantsUsage = body.stream_options?.include_usage === true;
  const chunk = (delta: object, finished: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finished }],
    ...(wantsUsage && { usage: null }),
  });
  return sse([
    chunk({ role: 'assistant', content: '', refusal: null }),
    ...pieces(move.text).map((content) => chunk({ content })),
    ...calls.flatMap(({ function: called, ...rest }) => [
      chunk({ tool_calls: [{ ...rest, function: { name: called.name, arguments: '' } }] }),
      ...pieces(called.arguments).map((piece) =>
        chunk({ tool_calls: [{ index: rest.index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, finish_reason),
    ...(wantsUsage ? [{ ...head, object: 'chat.completion.chunk', choices: [], usage }] : []),
    '[DONE]',
  ]);
}

/** Chat completions as OpenAI documents and enforces them. */
export const openAiChat: StrictDialect<Body> = {
  paths: /\/chat\/completions$/,
  shape,
  rules,
  answer,
  refusal: (message) =>
    json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, 400),
};
