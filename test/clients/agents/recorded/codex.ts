import { PIXEL } from '../strict-places.js';

/**
 * What Codex CLI 0.171.0 sends, recorded with `base_url` set to a server that answers as OpenAI does.
 * Texts are ours and the tools are fewer; fields, headers and the order of items are its own.
 * https://www.npmjs.com/package/@openai/codex,
 * https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/common.rs
 */
const SESSION = '01a217fb-932a-7f00-bbdd-9d043b8c0b20';

export const HEADERS = {
  accept: 'text/event-stream',
  'content-type': 'application/json',
  'accept-encoding': 'gzip',
  originator: 'codex_exec',
  'user-agent': 'codex_exec/0.171.0 (Debian 12.0.0; x86_64) dumb (codex_exec; 0.171.0)',
  'x-codex-beta-features': 'remote_compaction_v2',
  'x-codex-window-id': `${SESSION}:0`,
  'x-codex-turn-metadata': JSON.stringify({ session_id: SESSION, request_kind: 'turn', sandbox: 'none' }),
  'x-client-request-id': SESSION,
  'session-id': SESSION,
  'thread-id': SESSION,
};

export type Item = Readonly<Record<string, unknown>>;

const tool = (name: string, properties: object) => ({
  type: 'function',
  name,
  description: `What ${name} does.`,
  strict: false,
  parameters: { type: 'object', properties, additionalProperties: false },
});

const FUNCTIONS = [
  tool('exec_command', { cmd: { type: 'string' }, yield_time_ms: { type: 'number' } }),
  tool('view_image', { path: { type: 'string' } }),
];
const NAMESPACE = {
  type: 'namespace',
  name: 'multi_agent_v1',
  description: 'Tools for spawning and managing sub-agents.',
  tools: [
    tool('wait_agent', {
      targets: { type: 'array', items: { type: 'string' } },
      timeout_ms: { type: 'number' },
    }),
    tool('close_agent', { target: { type: 'string' } }),
  ],
};
/** Runs at OpenAI. The setting `web_search = "disabled"` leaves it out. */
export const WEB_SEARCH = { type: 'web_search', external_web_access: true };

const text = (words: string) => ({ type: 'input_text', text: words });

/** The first request of a session. */
export function firstRequest(model: string) {
  return {
    model,
    stream: true,
    input: [
      {
        type: 'message',
        id: 'msg_7711fdc9-0a81-5506-9d39-5aa3da8861e5',
        role: 'developer',
        content: [text('You are a coding agent.')],
      },
      {
        type: 'message',
        id: 'msg_01a217fb-9431-7593-8768-0933071680cb',
        role: 'developer',
        content: [text('Skills.'), text('Permissions.')],
      },
      {
        type: 'message',
        id: 'msg_01a217fb-9431-7593-8768-0949e5489578',
        role: 'user',
        content: [text('<environment_context></environment_context>')],
      },
      {
        type: 'message',
        id: 'msg_01a217fb-943c-7733-be27-3b4632b96f4d',
        role: 'user',
        content: [
          text('<image name=[Image #1] path="a.png">'),
          { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'high' },
          text('</image>'),
          text('read a.txt'),
        ],
      },
    ] as readonly Item[],
    tools: [...FUNCTIONS, NAMESPACE] as readonly Item[],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { summary: 'auto' },
    store: false,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: SESSION,
    client_metadata: { session_id: SESSION, thread_id: SESSION, 'x-codex-window-id': `${SESSION}:0` },
  };
}
export type Request = ReturnType<typeof firstRequest>;

/** The request with the items of the answer, as Codex keeps them, and the outputs of its calls. */
export function nextRequest(before: Request, output: readonly Item[]): Request {
  const calls = output.filter(({ type }) => type === 'function_call');
  const outputs = calls.map(({ call_id }, index) => ({
    type: 'function_call_output',
    id: `fco_01a217fb-957e-7600-9de2-72b32dd1e5e${index}`,
    call_id,
    output: 'Process exited with code 0\nOutput:\nsunny in Rome\n',
  }));
  return { ...before, input: [...before.input, ...output.map(kept), ...outputs] };
}

/** The request with the user's next question. */
export const thirdRequest = (before: Request, output: readonly Item[]): Request => ({
  ...before,
  input: [
    ...before.input,
    ...output.map(kept),
    { type: 'message', role: 'user', content: [text('And tomorrow?')] },
  ],
});

/** The fields that Codex knows of an item. https://github.com/openai/codex/blob/main/codex-rs/protocol/src/models.rs */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'id', 'role', 'content', 'phase'],
  reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content'],
  function_call: ['type', 'id', 'name', 'namespace', 'arguments', 'call_id', 'status'],
};

function kept(item: Item): Item {
  const known = Object.entries(item).filter(([name]) => KEPT[String(item['type'])]?.includes(name));
  const fields = Object.fromEntries(known);
  if (item['type'] === 'reasoning') return { content: null, ...fields };
  if (item['type'] !== 'message') return fields;
  const parts = item['content'] as readonly { readonly text?: string }[];
  return { ...fields, content: parts.map((part) => ({ type: 'output_text', text: part.text ?? '' })) };
}
