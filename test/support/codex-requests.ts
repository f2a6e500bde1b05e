/**
 * What Codex CLI 0.171.0 sends with a model of its own catalogue, recorded with `base_url` set to a server that answers as OpenAI does.
 * Texts are ours and the tools are fewer; fields, kinds of tools and the order of items are its own.
 * https://www.npmjs.com/package/@openai/codex, https://github.com/openai/codex/blob/main/codex-rs/protocol/src/models.rs
 */
export type CodexItem = Readonly<Record<string, unknown>>;

export interface CodexRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly input: readonly CodexItem[];
  readonly tools?: readonly CodexItem[];
  readonly [parameter: string]: unknown;
}

const SESSION = '01a21fcd-de2e-7de2-9d9c-232963ff1f37';

const tool = (name: string, properties: object, required: readonly string[] = []): CodexItem => ({
  type: 'function',
  name,
  description: `What ${name} does.`,
  strict: false,
  parameters: { type: 'object', properties, required, additionalProperties: false },
});

const custom = (name: string, definition: string): CodexItem => ({
  type: 'custom',
  name,
  description: `What ${name} does.`,
  format: { type: 'grammar', syntax: 'lark', definition },
});

const namespace = (name: string, tools: readonly CodexItem[]): CodexItem => ({
  type: 'namespace',
  name,
  description: '',
  tools,
});

const text = (words: string): CodexItem => ({ type: 'input_text', text: words });
const message = (role: string, ...words: readonly string[]): CodexItem => ({
  type: 'message',
  id: `msg_01a21fcd-de5a-7c02-8520-e8c9927bed9${words.length}`,
  role,
  content: words.map(text),
});

const CONVERSATION = [
  message('developer', 'You are Codex, a coding agent.'),
  message('developer', 'Skills.', 'Permissions.'),
  message('user', '<environment_context></environment_context>'),
  message('user', 'read a.txt'),
];

const PARAMETERS = {
  tool_choice: 'auto',
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: SESSION,
  text: { verbosity: 'low' },
  client_metadata: { session_id: SESSION, thread_id: SESSION },
} as const;

/** All tools are declared by the first item of the input, and commands run in scripts of the custom tool `exec`. */
export const liteRequest = (model = 'gpt-6.2-sol'): CodexRequest => ({
  model,
  stream: true,
  input: [
    {
      type: 'additional_tools',
      id: 'at_01a21fcd-de5a-7c02-8520-e8bec8196651',
      role: 'developer',
      tools: [
        namespace('functions', [
          custom('exec', 'start: /[^\\n]+/'),
          tool('wait', { cell_id: { type: 'string' } }, ['cell_id']),
        ]),
        namespace('collaboration', [
          tool('send_message', { message: { type: 'string', encrypted: true }, target: { type: 'string' } }),
          tool('list_agents', { path_prefix: { type: 'string' } }),
        ]),
      ],
    },
    ...CONVERSATION,
  ],
  parallel_tool_calls: false,
  reasoning: { effort: 'low', context: 'all_turns' },
  ...PARAMETERS,
});

/** Tools beside the input, among them a patch as a custom tool, a tool search of the client, and a search of the web at OpenAI. */
export const fullRequest = (model = 'gpt-5.5'): CodexRequest => ({
  model,
  stream: true,
  input: CONVERSATION,
  tools: [
    tool('exec_command', { cmd: { type: 'string' }, yield_time_ms: { type: 'number' } }, ['cmd']),
    custom('apply_patch', 'start: "*** Begin Patch"'),
    {
      type: 'tool_search',
      execution: 'client',
      description: 'Searches over deferred tools.',
      parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    },
    { type: 'web_search', external_web_access: true, search_content_types: ['text', 'image'] },
  ],
  parallel_tool_calls: true,
  reasoning: { effort: 'medium' },
  ...PARAMETERS,
});

/** Calls of every kind, as OpenAI makes them, and their results, as Codex sends them back. */
export const OPENAI_TURN: readonly CodexItem[] = [
  { type: 'reasoning', id: 'rs_0a1b', summary: [], content: null, encrypted_content: 'gAAAAABforeign' },
  {
    type: 'custom_tool_call',
    id: 'ctc_1',
    status: 'completed',
    call_id: 'call_1',
    name: 'exec',
    namespace: 'functions',
    input: 'text("a");\n',
  },
  {
    type: 'custom_tool_call_output',
    id: 'ctco_01a21fe6',
    call_id: 'call_1',
    output: [text('Script completed\n'), text('sunny in Rome\n')],
  },
  {
    type: 'tool_search_call',
    id: 'tsc_1',
    call_id: 'call_2',
    status: 'completed',
    execution: 'client',
    arguments: { query: 'agents' },
  },
  {
    type: 'tool_search_output',
    id: 'tso_01a21fe6',
    call_id: 'call_2',
    status: 'completed',
    execution: 'client',
    tools: [namespace('multi_agent_v1', [{ ...tool('spawn_agent', {}), defer_loading: true }])],
  },
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'Rome' } },
];

/** The request that follows a turn. */
export const after = (request: CodexRequest, ...items: readonly CodexItem[]): CodexRequest => ({
  ...request,
  input: [...request.input, ...items],
});
