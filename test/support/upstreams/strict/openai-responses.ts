import { z } from 'zod';
import { type Asked, json, type Rule, sse, type StrictDialect } from './rules.js';
import { type Call, pieces, SIGNATURE, THOUGHT, USAGE } from './scene.js';

const CREATE = 'https://platform.openai.com/docs/api-reference/responses/create';
const REASONING = 'https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items';

const name = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);
const itemId = (prefix: string) => z.string().max(64).startsWith(prefix).nullish();
const callId = z.string().min(1).max(64);
const given = z.union([
  z.strictObject({ type: z.literal('input_text'), text: z.string() }),
  z.strictObject({
    type: z.literal('input_image'),
    image_url: z.string().regex(/^(https?:\/\/|data:image\/)/),
    detail: z.enum(['low', 'high', 'auto', 'original']).optional(),
  }),
]);
const said = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).optional(),
});
const status = z.enum(['in_progress', 'completed', 'incomplete']).optional();
const item = z.union([
  z.strictObject({
    type: z.literal('message').optional(),
    id: itemId('msg_'),
    role: z.enum(['user', 'system', 'developer']),
    content: z.union([z.string(), z.array(given).min(1)]),
  }),
  z.strictObject({
    type: z.literal('message').optional(),
    id: itemId('msg_'),
    role: z.literal('assistant'),
    status,
    phase: z.string().nullish(),
    content: z.union([z.string(), z.array(said).min(1)]),
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: itemId('rs_'),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    content: z.array(z.looseObject({})).nullish(),
    encrypted_content: z.string().nullish(),
    status,
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id: itemId('fc_'),
    call_id: callId,
    name,
    namespace: name.optional(),
    arguments: z.string(),
    status,
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    id: itemId('fco_'),
    call_id: callId,
    output: z.union([z.string(), z.array(given)]),
    status,
  }),
]);
const functionTool = z.strictObject({
  type: z.literal('function'),
  name,
  description: z.string().nullish(),
  parameters: z.looseObject({ type: z.literal('object') }).nullish(),
  strict: z.boolean().nullish(),
});
const tool = z.union([
  functionTool,
  z.strictObject({
    type: z.literal('namespace'),
    name,
    description: z.string(),
    tools: z.array(functionTool).min(1),
  }),
  z.looseObject({
    type: z.enum([
      'web_search',
      'web_search_preview',
      'file_search',
      'code_interpreter',
      'image_generation',
      'mcp',
      'local_shell',
      'tool_search',
      'custom',
    ]),
  }),
]);

const shape = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(item).min(1)]),
  instructions: z.string().nullish(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string() })])
    .optional(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  include: z
    .array(
      z
        .string()
        .regex(
          /^(reasoning\.encrypted_content|message\.|web_search_call\.|file_search_call\.|code_interpreter_call\.)/,
        ),
    )
    .nullish(),
  reasoning: z
    .strictObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  text: z
    .strictObject({
      format: z.looseObject({}).optional(),
      verbosity: z.enum(['low', 'medium', 'high']).nullish(),
    })
    .optional(),
  max_output_tokens: z.int().min(16).nullish(),
  previous_response_id: z.string().startsWith('resp_').nullish(),
  prompt_cache_key: z.string().max(64).optional(),
  client_metadata: z.record(z.string(), z.string()).optional(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  // LlamaIndex sends null for an absent user:
  // https://github.com/run-llama/llama_index/blob/main/llama-index-integrations/llms/llama-index-llms-openai/llama_index/llms/openai/responses.py
  user: z.string().max(64).nullish(),
  safety_identifier: z.string().max(64).optional(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'priority']).nullish(),
});
type Body = z.infer<typeof shape>;

const itemsOf = ({ input }: Body) => (typeof input === 'string' ? [] : input);
const outputsOf = (body: Body) => itemsOf(body).filter((it) => it.type === 'function_call_output');

const rules: readonly Rule<Body>[] = [
  {
    says: 'No tool call found for function call output, or no tool output found for function call.',
    url: CREATE,
    isBroken: (body) => {
      if ((body.previous_response_id ?? null) !== null) return false;
      const called = itemsOf(body).flatMap((it) => (it.type === 'function_call' ? [it.call_id] : []));
      return (
        called.toSorted().join() !==
        outputsOf(body)
          .map(({ call_id }) => call_id)
          .toSorted()
          .join()
      );
    },
  },
  {
    says: 'Item with id not found. Items are not persisted when `store` is set to false.',
    url: REASONING,
    isBroken: (body) =>
      body.store === false &&
      itemsOf(body).some((it) => it.type === 'reasoning' && (it.encrypted_content ?? null) === null),
  },
  {
    says: 'The encrypted content could not be verified.',
    url: REASONING,
    isBroken: (body) =>
      itemsOf(body).some(
        (it) => it.type === 'reasoning' && (it.encrypted_content ?? SIGNATURE) !== SIGNATURE,
      ),
  },
];

interface Known {
  readonly name: string;
  readonly namespace?: string;
}

function toolsOf({ tools = [] }: Body): readonly Known[] {
  return tools.flatMap((it): Known[] => {
    if (it.type === 'function') return [{ name: (it as { name: string }).name }];
    if (it.type !== 'namespace') return [];
    const { name: namespace, tools: inner } = it as { name: string; tools: readonly Known[] };
    return inner.map((known) => ({ namespace, name: known.name }));
  });
}

function outputOf(body: Body, { moveOf }: Asked) {
  const known = toolsOf(body);
  const names = known.map(({ namespace, name: own }) => (namespace ? `${namespace}/${own}` : own));
  const move = moveOf(names, outputsOf(body).length > 0);
  const isSealed = body.include?.includes('reasoning.encrypted_content') === true;
  const thought = {
    type: 'reasoning' as const,
    id: 'rs_1',
    summary: body.reasoning?.summary ? [{ type: 'summary_text', text: THOUGHT }] : [],
    ...(isSealed && { encrypted_content: SIGNATURE }),
  };
  const message = {
    type: 'message' as const,
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: move.text, annotations: [], logprobs: [] }],
  };
  const calls = move.calls.map((call, index) => callItem(call, index, known[names.indexOf(call.name)]));
  return [...(/^(o\d|gpt-5)/.test(body.model) ? [thought] : []), message, ...calls];
}

const callItem = ({ input }: Call, index: number, known?: Known) => ({
  type: 'function_call' as const,
  id: `fc_${index}`,
  status: 'completed',
  call_id: `call_${index}AbCdEfGhIjKlMnOpQr`,
  ...known,
  arguments: JSON.stringify(input),
});

type Output = ReturnType<typeof outputOf>[number];

function answer(body: Body, asked: Asked) {
  const output = outputOf(body, asked);
  const usage = {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: USAGE.cached },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: USAGE.reasoning },
    total_tokens: USAGE.input + USAGE.output,
  };
  const head = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_760_000_000,
    model: body.model,
    error: null,
    incomplete_details: null,
    store: body.store ?? true,
    tools: body.tools ?? [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    tool_choice: body.tool_choice ?? 'auto',
  };
  const whole = { ...head, status: 'completed', output, usage };
  if (body.stream !== true) return json(whole);
  const events: object[] = [
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [], usage: null } },
    ...output.flatMap(itemEvents),
    { type: 'response.completed', response: whole },
  ];
  return sse(events.map((event, sequence_number) => ({ ...event, sequence_number })));
}

function itemEvents(it: Output, output_index: number): object[] {
  const at = { item_id: it.id, output_index };
  const done = { type: 'response.output_item.done', output_index, item: it };
  const added = (fields: object) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...it, ...fields },
  });
  if (it.type === 'reasoning') return [added({ summary: [] }), done];
  if (it.type === 'function_call')
    return [
      added({ arguments: '', status: 'in_progress' }),
      ...pieces(it.arguments).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        ...at,
        delta,
      })),
      {
        type: 'response.function_call_arguments.done',
        ...at,
        name: 'name' in it ? it.name : '',
        arguments: it.arguments,
      },
      done,
    ];
  const [part] = it.content;
  const within = { ...at, content_index: 0 };
  return [
    added({ content: [], status: 'in_progress' }),
    { type: 'response.content_part.added', ...within, part: { ...part, text: '' } },
    ...pieces(part?.text ?? '').map((delta) => ({
      type: 'response.output_text.delta',
      ...within,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...within, text: part?.text, logprobs: [] },
    { type: 'response.content_part.done', ...within, part },
    done,
  ];
}

/** OpenAI's responses. */
export const openAiResponses: StrictDialect<Body> = {
  paths: /\/responses$/,
  shape,
  rules,
  answer,
  refusal: (message) =>
    json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, 400),
};
