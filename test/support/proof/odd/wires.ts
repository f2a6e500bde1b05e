/** What a provider gave away. */
export interface Told {
  readonly input: number;
  readonly output: number;
}

/** How a provider says things in its own dialect. All of them answer "well then". */
export interface Wire {
  readonly whole: (model: string, told: Told) => object;
  readonly refusal: (message: string) => object;
  /** Pieces of a stream, each of whole events. */
  readonly begin: (model: string, told: Told) => string;
  readonly words: (text: string) => string;
  /** Its last words, without those of `end`. */
  readonly told: (model: string, told: Told) => string;
  readonly end: string;
  readonly error: string;
}

const TEXT = 'well then';
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const typed = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;

const openaiUsage = ({ input, output }: Told): object => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});
const chunk = (model: string, more: object): string =>
  data({ id: 'c', created: 1, object: 'chat.completion.chunk', model, ...more });
const delta = (content: object, finish_reason: string | null = null): object => ({
  choices: [{ index: 0, delta: content, finish_reason }],
});
const openaiRefusal = (message: string): object => ({ error: { message, type: 'server_error', code: null } });

/** https://platform.openai.com/docs/api-reference/chat */
const CHAT: Wire = {
  whole: (model, told) => ({
    id: 'c',
    created: 1,
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
    usage: openaiUsage(told),
  }),
  refusal: openaiRefusal,
  begin: (model) => chunk(model, delta({ role: 'assistant', content: '' })),
  words: (content) => chunk('gpt-4o-mini', delta({ content })),
  told: (model, told) =>
    chunk(model, delta({}, 'stop')) + chunk(model, { choices: [], usage: openaiUsage(told) }),
  end: 'data: [DONE]\n\n',
  error: data(openaiRefusal('overloaded')),
};

const response = (model: string, { input, output }: Told, status: string): object => {
  const isOver = status === 'completed';
  const content = [{ type: 'output_text', text: TEXT, annotations: [] }];
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status,
    model,
    error: null,
    output: isOver ? [{ type: 'message', id: 'msg_1', role: 'assistant', status, content }] : [],
    usage: isOver ? { input_tokens: input, output_tokens: output, total_tokens: input + output } : null,
  };
};

/** https://platform.openai.com/docs/api-reference/responses-streaming */
const RESPONSES: Wire = {
  whole: (model, told) => response(model, told, 'completed'),
  refusal: openaiRefusal,
  begin: (model, told) =>
    typed('response.created', { sequence_number: 0, response: response(model, told, 'in_progress') }),
  words: (text) =>
    typed('response.output_text.delta', {
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: text,
      sequence_number: 1,
      logprobs: [],
    }),
  told: (model, told) =>
    typed('response.completed', { sequence_number: 4, response: response(model, told, 'completed') }),
  end: '',
  error: typed('error', { code: 'server_error', message: 'overloaded', param: null, sequence_number: 3 }),
};

const message = (model: string, content: readonly object[], usage: object): object => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: content.length > 0 ? 'end_turn' : null,
  usage,
});

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
const MESSAGES: Wire = {
  whole: (model, { input, output }) =>
    message(model, [{ type: 'text', text: TEXT }], { input_tokens: input, output_tokens: output }),
  refusal: (text) => ({ type: 'error', error: { type: 'api_error', message: text } }),
  begin: (model, { input }) =>
    typed('message_start', { message: message(model, [], { input_tokens: input, output_tokens: 1 }) }) +
    typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  words: (text) => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  told: (_, { output }) =>
    typed('content_block_stop', { index: 0 }) +
    typed('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } }),
  end: typed('message_stop', {}),
  error: typed('error', { error: { type: 'overloaded_error', message: 'overloaded' } }),
};

const candidate = (text: string, more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
  modelVersion: 'gemini-2.5-flash',
});
const googleEnd = (text: string, { input, output }: Told): object => ({
  ...candidate(text, { finishReason: 'STOP' }),
  usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
});

/** https://ai.google.dev/api/generate-content */
const GOOGLE: Wire = {
  whole: (_, told) => googleEnd(TEXT, told),
  refusal: (text) => ({ error: { code: 500, message: text, status: 'INTERNAL' } }),
  begin: () => '',
  words: (text) => data(candidate(text)),
  told: (_, told) => data(googleEnd('', told)),
  end: '',
  error: data({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }),
};

/** What stands behind an address: whose dialects, at which path. */
export const PLACES = {
  openai: {
    provider: 'openai',
    model: 'gpt-4o-mini',
    wires: { '/chat/completions': CHAT, '/responses': RESPONSES },
  },
  larger: {
    provider: 'openai',
    model: 'gpt-4o',
    wires: { '/chat/completions': CHAT, '/responses': RESPONSES },
  },
  claude: { provider: 'anthropic', model: 'claude-sonnet-4-5', wires: { '/messages': MESSAGES } },
  gemini: {
    provider: 'google',
    model: 'gemini-2.5-flash',
    wires: { ':generateContent': GOOGLE, ':streamGenerateContent': GOOGLE },
  },
} as const satisfies Record<string, { provider: string; model: string; wires: Record<string, Wire> }>;

export type Place = keyof typeof PLACES;

/** Every text of an answer in whatever dialect, one after the other. */
export const textIn = (answer: string): string =>
  [...answer.matchAll(/"(?:content|text|delta)":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text).join('');
