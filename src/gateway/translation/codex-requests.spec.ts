import { afterEach, describe, expect, it } from 'vitest';
import {
  after,
  type CodexItem,
  type CodexRequest,
  fullRequest,
  liteRequest,
  OPENAI_TURN,
} from '../../../test/support/codex-requests.js';
import { aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';

/** Requests of Codex with a model that it knows, at providers that have no responses API. */
const EVENTS = { 'content-type': 'text/event-stream' };
const DROPPED = 'x-gateway-dropped-parameters';

type CodexBody = Readonly<Record<string, unknown>>;

/** An answer of Anthropic with calls of tools, whose arguments arrive in pieces. */
function claudeStream(...calls: readonly (readonly [name: string, pieces: readonly string[]])[]): string {
  const events: CodexBody[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        role: 'assistant',
        model: 'c',
        content: [],
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    ...calls.flatMap(([name, pieces], index) => [
      {
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
      },
      ...pieces.map((partial_json) => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

const CLAUDE = { headers: EVENTS, chunks: [claudeStream()] };
const OVERLOADED = { status: 503, chunks: ['{"error":{"message":"overloaded"}}'] };

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({
    virtualKeys: {
      oai: 'openai',
      claude: 'anthropic',
      gemini: 'google',
      rock: 'bedrock',
      chat: 'mistral-ai',
    },
    answers: [CLAUDE],
    ...wishes,
  }));
afterEach(() => gateway.close());

const ask = (request: CodexRequest, headers: Record<string, string>): Promise<Response> =>
  gateway.request('/v1/responses', {
    method: 'POST',
    body: JSON.stringify(request),
    headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': '', ...headers },
  });
const at = (slug: string) => ({ 'x-gateway-virtual-key': slug });
const FALLBACK = {
  'x-gateway-config': JSON.stringify({
    strategy: { mode: 'fallback' },
    targets: [
      { virtual_key: 'oai' },
      { virtual_key: 'claude', override_params: { model: 'claude-opus-4-8' } },
    ],
  }),
};
const bodyOf = (call = gateway.calls.length - 1): CodexBody =>
  JSON.parse((gateway.calls[call]?.body as Buffer).toString()) as CodexBody;

const eventsOf = async (answer: Response): Promise<readonly CodexBody[]> =>
  (await answer.text())
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as CodexBody);
const itemsIn = (events: readonly CodexBody[]): readonly CodexItem[] =>
  events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as CodexItem);

/** The names of all tools in a provider's request, wherever its dialect has them. */
function toolNamesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(toolNamesIn);
  if (typeof value !== 'object' || value === null) return [];
  const { name, ...rest } = value as CodexBody;
  return typeof name === 'string' ? [name] : Object.values(rest).flatMap(toolNamesIn);
}
const sentTools = (): readonly string[] => {
  const { tools, toolConfig } = bodyOf();
  return toolNamesIn(tools ?? toolConfig);
};

const LITE = [
  'functions__exec',
  'functions__wait',
  'collaboration__send_message',
  'collaboration__list_agents',
];
const FULL = ['exec_command', 'apply_patch', 'tool_search'];

describe('a request of Codex with a model of its own catalogue', () => {
  it.each([
    ['claude', liteRequest, LITE, 'verbosity'],
    ['claude', fullRequest, FULL, 'tools.web_search, verbosity'],
    ['gemini', liteRequest, LITE, 'parallel_tool_calls, verbosity'],
    ['gemini', fullRequest, FULL, 'tools.web_search, verbosity'],
    ['rock', liteRequest, LITE, 'parallel_tool_calls, verbosity'],
    ['rock', fullRequest, FULL, 'tools.web_search, verbosity'],
    ['chat', liteRequest, LITE, null],
    ['chat', fullRequest, FULL, 'tools.web_search'],
  ])('reaches %s as it is: %o', async (slug, request, tools, dropped) => {
    await given();

    const answer = await ask(request('claude-opus-4-8'), at(slug));

    expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, '']);
    expect(sentTools()).toEqual(tools);
    const names = answer.headers.get(DROPPED)?.split(', ').toSorted().join(', ') ?? null;
    expect(names).toBe(dropped);
    await answer.text();
  });

  it('is refused with every name where the rule is "refuse"', async () => {
    await given();

    const answer = await ask(fullRequest(), {
      ...at('claude'),
      'x-gateway-unsupported-parameters': 'refuse',
    });

    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('web_search');
    expect(gateway.calls).toHaveLength(0);
  });

  it('is refused without a tool of its own: it depends on the search', async () => {
    await given();
    const tools = [{ type: 'web_search' }];

    expect((await ask({ ...fullRequest(), tools }, at('claude'))).status).toBe(400);
    expect(gateway.calls).toHaveLength(0);
  });

  it('gets the call of a custom tool back as one, in pieces', async () => {
    const pieces = ['', '{"inp', 'ut": "text(\\"', '\\', 'u00e9\\ud83d', '\\ude00\\")', ';\\n"', '}'];
    await given({ answers: [{ headers: EVENTS, chunks: [claudeStream(['functions__exec', pieces])] }] });

    const events = await eventsOf(await ask(liteRequest(), at('claude')));

    const input = 'text("é😀");\n';
    const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.length).toBeGreaterThan(2);
    expect(deltas.map(({ delta }) => delta).join('')).toBe(input);
    expect(events.find(({ type }) => type === 'response.custom_tool_call_input.done')).toMatchObject({
      input,
    });
    expect(itemsIn(events)).toMatchObject([
      {
        ...{ type: 'custom_tool_call', status: 'completed', call_id: 'toolu_0' },
        ...{ namespace: 'functions', name: 'exec', input },
      },
    ]);
  });

  it('gets one call where it allows no parallel ones, and every call where it does', async () => {
    const call = ['collaboration__list_agents', ['{}']] as const;
    const chunks = [claudeStream(call, call)];
    await given({
      answers: [
        { headers: EVENTS, chunks },
        { headers: EVENTS, chunks },
      ],
    });

    expect(itemsIn(await eventsOf(await ask(liteRequest(), at('claude'))))).toHaveLength(1);
    const parallel = { ...liteRequest(), parallel_tool_calls: true };
    expect(itemsIn(await eventsOf(await ask(parallel, at('claude'))))).toHaveLength(2);
  });

  it('searches tools that are loaded later, and calls what it found', async () => {
    const calls = [
      ['tool_search', ['{"query":"agents"}']],
      ['multi_agent_v1__spawn_agent', ['{}']],
    ] as const;
    await given({ answers: [{ headers: EVENTS, chunks: [claudeStream(...calls)] }] });

    const events = await eventsOf(await ask(after(fullRequest(), ...OPENAI_TURN), at('claude')));

    expect(sentTools()).toEqual([...FULL, 'multi_agent_v1__spawn_agent']);
    expect(itemsIn(events)).toMatchObject([
      { type: 'tool_search_call', execution: 'client', call_id: 'toolu_0', arguments: { query: 'agents' } },
      { type: 'function_call', namespace: 'multi_agent_v1', name: 'spawn_agent', arguments: '{}' },
    ]);
  });
});

describe('a session of Codex that moves to another provider', () => {
  it('continues where OpenAI fails, with all that OpenAI did', async () => {
    await given({ answers: [OVERLOADED, CLAUDE] });

    const answer = await ask(after(liteRequest(), ...OPENAI_TURN), FALLBACK);

    expect([answer.status, gateway.calls.length]).toEqual([200, 2]);
    const { messages, model } = bodyOf() as { messages: readonly { content: unknown }[]; model: string };
    expect(model).toBe('claude-opus-4-8');
    expect(JSON.stringify(messages)).not.toContain('gAAAAAB');
    expect(messages.slice(1).flatMap(({ content }) => content)).toMatchObject([
      { type: 'tool_use', id: 'call_1', name: 'functions__exec', input: { input: 'text("a");\n' } },
      {
        type: 'tool_result',
        tool_use_id: 'call_1',
        content: [{ text: 'Script completed\n' }, { text: 'sunny in Rome\n' }],
      },
      { type: 'tool_use', id: 'call_2', name: 'tool_search', input: { query: 'agents' } },
      { type: 'tool_result', tool_use_id: 'call_2', content: 'Available now: multi_agent_v1__spawn_agent' },
    ]);
    await answer.text();
  });

  it('returns to OpenAI without the reasoning that OpenAI cannot read', async () => {
    await given({ answers: [{ headers: EVENTS, chunks: ['data: {}\n\n'] }] });
    const suffix = '01a21fcdde2e7de29d9c232963ff1f37';
    const sealed = { type: 'reasoning', id: 'x', summary: [], encrypted_content: 'gatehouse.1.W10' };
    const unsealed = { type: 'reasoning', id: `rs_${suffix}0`, summary: [], content: null };

    await (await ask(after(liteRequest(), ...OPENAI_TURN, sealed, unsealed), at('oai'))).text();

    expect(bodyOf()).toEqual(after(liteRequest(), ...OPENAI_TURN));
  });

  it('passes OpenAI byte for byte otherwise', async () => {
    await given({ answers: [{ headers: EVENTS, chunks: ['data: {}\n\n'] }] });
    const request = after(liteRequest(), ...OPENAI_TURN);

    await (await ask(request, at('oai'))).text();

    expect((gateway.calls[0]?.body as Buffer).toString()).toBe(JSON.stringify(request));
  });
});
