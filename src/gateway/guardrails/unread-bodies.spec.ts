import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';
import type { Json } from '../../providers/endpoint.js';

const DENYING = { 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true };
const REDACTING = { 'default.pii': { redact: true } };
const JSON_TYPE = { 'content-type': 'application/json' };
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const chunk = (delta: Json, more: Json = {}) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, ...more }] })}\n\n`;

let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.close();
  gateway = null;
});

interface UnreadBodyRequest {
  readonly config: object;
  readonly path?: string;
  readonly method?: string;
  readonly body?: RequestInit['body'] | null;
  readonly headers?: Record<string, string>;
  readonly answers?: readonly ScriptedAnswer[];
  readonly provider?: string;
}

async function ask({
  config,
  path = '/chat/completions',
  method = 'POST',
  body,
  headers,
  answers,
  provider = 'openai',
}: UnreadBodyRequest) {
  gateway = await aGateway({ answers: answers ?? [{ chunks: ['{"choices":[]}'] }] });
  const response = await gateway.request(`/v1${path}`, {
    method,
    ...(body !== null && { body: body ?? JSON.stringify(CHAT) }),
    headers: {
      ...(body instanceof FormData || body === null ? {} : JSON_TYPE),
      authorization: 'Bearer provider-key',
      'x-gateway-provider': provider,
      'x-gateway-config': JSON.stringify(config),
      ...headers,
    },
  });
  const text = await response.text().catch(() => '');
  await expect.poll(() => gateway?.logs.length, { interval: 1 }).toBe(1);
  const { record, bodies } = gateway.logs[0] as TestGateway['logs'][number];
  const logged = Buffer.concat(bodies.request?.chunks ?? []).toString('latin1');
  return { status: response.status, text, record, logged, calls: gateway.calls };
}

const TWICE =
  '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Apollo"}],"messages":[{"role":"user","content":"Hi"}]}';

describe('a request that two readers may read differently', () => {
  it.each([
    ['a name twice', TWICE],
    [
      'a name twice, escaped',
      TWICE.replace('"messages":[{"role":"user","content":"Hi"}]', '"\\u006dessages":[]'),
    ],
    ['a name twice below', '{"model":"m","messages":[{"role":"user","content":"Apollo","content":"Hi"}]}'],
  ])('is refused where a guardrail acts on texts: %s', async (_, body) => {
    for (const guardrail of [DENYING, REDACTING]) {
      const { status, text, calls } = await ask({ config: { input_guardrails: [guardrail] }, body });

      expect([status, calls.length]).toEqual([400, 0]);
      expect(text).toMatch(/twice.*Send each member once/);
      await gateway?.close();
    }
  });

  it('passes byte for byte, marked as unread, where no guardrail acts on texts', async () => {
    const { status, calls, record } = await ask({
      config: { input_guardrails: [{ 'default.wordCount': { minWords: 0 } }] },
      body: TWICE,
    });

    expect([status, (calls[0]?.body as Buffer).toString()]).toEqual([246, TWICE]);
    expect(record.hook_results).toMatchObject({
      before_request_hooks: [{ verdict: false, checks: [{ data: { unread: 'duplicate' } }] }],
    });
  });

  it('is refused where its bytes are no UTF-8', async () => {
    const body = Buffer.from(JSON.stringify(CHAT).replace('Hi', 'H\u00ffi'), 'latin1');

    expect((await ask({ config: { input_guardrails: [DENYING] }, body })).status).toBe(415);
  });
});

describe('a multipart form', () => {
  const sound = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0x0a, 0x2d, 0x2d]);
  const formOf = (prompt: string | Blob, isPromptFirst = true): FormData => {
    const form = new FormData();
    form.set('model', 'gpt-4o-mini');
    if (isPromptFirst) form.set('prompt', prompt);
    form.set('file', new Blob([sound], { type: 'audio/mpeg' }), 'a.mp3');
    if (!isPromptFirst) form.set('prompt', prompt);
    return form;
  };

  it.each([
    ['/audio/transcriptions', formOf('about Apollo')],
    ['/audio/transcriptions', formOf('about Apollo', false)],
    ['/audio/translations', formOf(`${'long '.repeat(2_000)} Apollo`)],
    ['/images/edits', formOf('draw Apollo')],
    ['/images/edits', formOf(new Blob(['draw Apollo'], { type: 'text/plain' }))],
    ['/images/variations', formOf('draw Apollo', false)],
  ])('is denied for what its fields say: %s', async (path, body) => {
    const { status, calls } = await ask({ config: { input_guardrails: [DENYING] }, path, body });

    expect([status, calls.length]).toEqual([446, 0]);
  });

  it('is redacted, in the log too, and no other byte of it changes', async () => {
    const { status, calls, logged } = await ask({
      config: { input_guardrails: [REDACTING] },
      path: '/audio/transcriptions',
      body: formOf('ask joe@example.com', false),
      answers: [{ headers: JSON_TYPE, chunks: ['{"text":"a"}'] }],
    });

    const sent = (calls[0]?.body as Buffer).toString('latin1');
    expect(status).toBe(200);
    expect(sent).toContain('ask {{EMAIL_ADDRESS_1}}\r\n');
    expect(sent).toContain(sound.toString('latin1'));
    expect([sent, logged].some((one) => one.includes('joe@'))).toBe(false);
    expect(logged).toBe(sent);
  });

  it('passes unchanged where nothing in it is changed', async () => {
    const { status, calls } = await ask({
      config: { input_guardrails: [DENYING, REDACTING] },
      path: '/audio/transcriptions',
      body: formOf('fine'),
      answers: [{ headers: JSON_TYPE, chunks: ['{"text":"a"}'] }],
    });

    expect(status).toBe(200);
    expect((calls[0]?.body as Buffer).includes(sound)).toBe(true);
  });

  it.each([
    ['cut off', '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nApollo'],
    ['with other line ends', '--b\ncontent-disposition: form-data; name="prompt"\n\nApollo\n--b--\n'],
  ])('is refused where it is none: %s', async (_, body) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const { status, calls } = await ask({
      config: { input_guardrails: [DENYING] },
      path: '/audio/transcriptions',
      body,
      headers,
    });

    expect([status, calls.length]).toEqual([415, 0]);
  });
});

const said = (text: string): string => JSON.stringify({ choices: [{ message: { content: text } }] });
const EVENTS = { 'content-type': 'text/event-stream' };

describe('an unreadable response is refused where a guardrail denies', () => {
  it.each<[string, ScriptedAnswer]>([
    ['a page', { headers: { 'content-type': 'text/html' }, chunks: ['<p>Apollo</p>'] }],
    ['half an object', { headers: JSON_TYPE, chunks: ['{"choices":[{"message":{"content":"Apollo'] }],
    ['two objects', { headers: JSON_TYPE, chunks: [said('Apollo') + said('Apollo')] }],
    ['a text', { headers: JSON_TYPE, chunks: ['"Apollo"'] }],
    ['a list of texts', { headers: JSON_TYPE, chunks: ['["Apollo"]'] }],
    [
      'a name twice',
      { headers: JSON_TYPE, chunks: ['{"choices":[{"message":{"content":"Apollo"}}],"choices":[]}'] },
    ],
    [
      'another encoding of characters',
      { headers: JSON_TYPE, chunks: [Buffer.from(said('Apollo'), 'utf16le')] },
    ],
    [
      'events of nothing but texts',
      { headers: EVENTS, chunks: ['data: the Apollo\n\n', 'data: [DONE]\n\n'] },
    ],
    ['events that are lists', { headers: EVENTS, chunks: [`data: [${said('Apollo')}]\n\n`] }],
    [
      'an event with a name twice',
      { headers: EVENTS, chunks: ['data: {"choices":[{"delta":{"content":"Apollo"}}],"choices":[]}\n\n'] },
    ],
    ['an event whose name is a sentence', { headers: EVENTS, chunks: ['event: the Apollo\ndata: {}\n\n'] }],
    ['an object that says it is a stream', { headers: EVENTS, chunks: [said('Apollo')] }],
    [
      'events that come as lines of JSON',
      { headers: EVENTS, chunks: [`${said('Apollo')}\n${said('Apollo')}\n`] },
    ],
    [
      'frames of Amazon',
      {
        headers: { 'content-type': 'application/vnd.amazon.eventstream' },
        chunks: [Buffer.from([0, 0, 0, 9, 0xff]), 'Apollo'],
      },
    ],
  ])('%s', async (_, answer) => {
    for (const stream of [false, true]) {
      const { status, text, record } = await ask({
        config: { output_guardrails: [DENYING] },
        body: JSON.stringify({ ...CHAT, stream }),
        answers: [answer],
      });

      expect([record.ending, record.error_code]).toEqual(['refused', 'guardrail_denied']);
      expect(text).not.toContain('Apollo');
      expect([446, 200]).toContain(status);
      if (status === 200) expect(text).toContain('guardrail_denied');
      expect(record.hook_results).toMatchObject({ after_request_hooks: [{ verdict: false }] });
      await gateway?.close();
    }
  });

  it.each(['dcz', 'compress', 'gzip, br'])('a content-encoding of %s', async (encoding) => {
    const { status, text } = await ask({
      config: { output_guardrails: [DENYING] },
      answers: [
        { headers: { ...JSON_TYPE, 'content-encoding': encoding }, chunks: [gzipSync(said('Apollo'))] },
      ],
    });

    expect(status).toBeGreaterThanOrEqual(446);
    expect(text).not.toContain('Apollo');
  });

  it('and passes, marked as unread, where none does', async () => {
    const { status, text, record } = await ask({
      config: { output_guardrails: [{ 'default.contains': { operator: 'none', words: ['Apollo'] } }] },
      answers: [{ headers: { 'content-type': 'text/html' }, chunks: ['<p>Apollo</p>'] }],
    });

    expect([status, text]).toEqual([246, '<p>Apollo</p>']);
    expect(record.hook_results).toMatchObject({
      after_request_hooks: [{ verdict: false, checks: [{ error: { name: 'Unread' } }] }],
    });
  });

  it('but not one that has nothing in it, nor sound', async () => {
    const config = { output_guardrails: [DENYING] };
    expect((await ask({ config, answers: [{ status: 200, chunks: [] }] })).status).toBe(200);
    await gateway?.close();

    const body = JSON.stringify({ model: 'tts', input: 'a', voice: 'alloy' });
    const sound = { headers: { 'content-type': 'audio/mpeg' }, chunks: [Buffer.from([0xff, 0xfb])] };
    expect((await ask({ config, path: '/audio/speech', body, answers: [sound] })).status).toBe(200);
  });

  it.each([
    ['as text', 'text/plain', 'the Apollo', 446],
    ['as text that is fine', 'text/plain', 'WEBVTT\n\nfine', 200],
  ])('a transcription is read %s', async (_, type, spoken, expected) => {
    const form = new FormData();
    form.set('model', 'whisper-1');
    form.set('response_format', 'vtt');
    form.set('file', new Blob([Buffer.from([0xff])]), 'a.mp3');
    const { status } = await ask({
      config: { output_guardrails: [DENYING] },
      path: '/audio/transcriptions',
      body: form,
      answers: [{ headers: { 'content-type': type }, chunks: [spoken] }],
    });

    expect(status).toBe(expected);
  });
});

describe('a stored response', () => {
  const answers = [
    {
      headers: JSON_TYPE,
      chunks: [JSON.stringify({ id: 'r', output: [{ content: [{ text: 'Apollo' }] }] })],
    },
  ];
  const events = [
    {
      headers: EVENTS,
      chunks: [`data: ${JSON.stringify({ type: 'response.output_text.delta', delta: 'Apollo' })}\n\n`],
    },
  ];

  it.each([
    ['plain', answers],
    ['as a stream', events],
  ])('is denied as it would have been when it was made: %s', async (_, given) => {
    const { text, record } = await ask({
      config: { output_guardrails: [DENYING], input_guardrails: [DENYING] },
      ...{ path: '/responses/resp_1?stream=true', method: 'GET', body: null, answers: given },
    });

    expect(record.ending).toBe('refused');
    expect(text).not.toMatch(/^data.*Apollo/m);
  });
});

describe("Gemini's array", () => {
  const path = '/v1beta/models/gpt-4o-mini:streamGenerateContent';
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] });
  const element = (text: string) => JSON.stringify({ candidates: [{ content: { parts: [{ text }] } }] });

  it('reaches the client element by element, before it has ended', async () => {
    gateway = await aGateway({
      answers: [
        {
          headers: JSON_TYPE,
          chunks: [`[${element('a fine day, it seems. ')}`],
          isEndless: true,
          until: () => true,
        },
      ],
    });
    const response = await gateway.request(`/v1${path}`, {
      method: 'POST',
      body,
      headers: {
        ...JSON_TYPE,
        authorization: 'Bearer k',
        'x-gateway-provider': 'google',
        'x-gateway-config': JSON.stringify({ output_guardrails: [REDACTING] }),
      },
    });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};

    expect(Buffer.from(value ?? []).toString()).toContain('a fine day');
    expect(response.headers.get('content-type')).toBe('application/json');
    await reader?.cancel();
  });

  it("is still JSON when it was stopped in the middle, and ends with an error in Google's format", async () => {
    const { text, record } = await ask({
      ...{ path, body, provider: 'google', config: { output_guardrails: [DENYING] } },
      answers: [
        {
          headers: JSON_TYPE,
          chunks: [`[${element('all is well with the ')}`, `,\r\n${element('Apollo')}]`],
        },
      ],
    });

    expect(record.ending).toBe('refused');
    expect((JSON.parse(text) as Json[]).at(-1)).toMatchObject({
      error: {
        code: 446,
        status: 'FAILED_PRECONDITION',
        details: [{ metadata: { code: 'guardrail_denied' } }],
      },
    });
  });

  it('that begins with an error moves a fallback on', async () => {
    const targets = [
      { provider: 'google', api_key: 'k' },
      { provider: 'google', api_key: 'k' },
    ];
    for (const guardrail of [DENYING, { 'default.wordCount': { maxWords: 9 }, deny: true }]) {
      const { text, calls } = await ask({
        ...{
          path,
          body,
          provider: 'google',
          config: { strategy: { mode: 'fallback' }, targets, output_guardrails: [guardrail] },
        },
        answers: [
          { headers: JSON_TYPE, chunks: ['[{"error":{"code":500,"message":"no"}}]'] },
          { headers: JSON_TYPE, chunks: [`[${element('fine')}]`] },
        ],
      });

      expect(calls).toHaveLength(2);
      expect(text).toContain('fine');
      await gateway?.close();
    }
  });
});

describe('what a guardrail does not mistake for a text', () => {
  const ordinary = [
    'user',
    'assistant',
    'function',
    'object',
    'string',
    'stop',
    'chat',
    'text',
    'auto',
    'gpt',
    'high',
    'default',
    'call_',
  ];

  it('is what the interface says of itself', async () => {
    const { status } = await ask({
      config: {
        input_guardrails: [{ 'default.contains': { operator: 'none', words: ordinary }, deny: true }],
        output_guardrails: [{ 'default.contains': { operator: 'none', words: ordinary }, deny: true }],
      },
      body: JSON.stringify({
        ...CHAT,
        tool_choice: 'auto',
        reasoning_effort: 'high',
        service_tier: 'default',
        response_format: { type: 'text' },
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
            },
          },
        ],
      }),
      answers: [
        {
          headers: JSON_TYPE,
          chunks: [
            JSON.stringify({
              id: 'chatcmpl-1',
              object: 'chat.completion',
              model: 'gpt-4o-mini',
              service_tier: 'default',
              choices: [
                {
                  index: 0,
                  finish_reason: 'stop',
                  message: {
                    role: 'assistant',
                    content: 'Fine',
                    tool_calls: [
                      { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
                    ],
                  },
                },
              ],
            }),
          ],
        },
      ],
    });

    expect(status).toBe(200);
  });

  it('is counted nowhere, and fulfils no requirement, where it is missing', async () => {
    const tools = [{ type: 'function', function: { name: 'f', description: 'five words of the Apollo' } }];
    const body = JSON.stringify({ ...CHAT, tools });
    const counted = await ask({
      config: { input_guardrails: [{ 'default.wordCount': { maxWords: 1 }, deny: true }] },
      body,
    });
    expect(counted.status).toBe(200);
    await gateway?.close();

    const required = { 'default.contains': { operator: 'all', words: ['Apollo'] }, deny: true };
    expect((await ask({ config: { input_guardrails: [required] }, body })).status).toBe(446);
  });
});

it('a call that comes in one piece is not named twice when its rest leaves later', async () => {
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'send', arguments: '{"to":"jane@example.com"}' },
  };
  const { text } = await ask({
    config: { output_guardrails: [{ 'default.regexMatch': { rule: 'Apollo', not: true }, deny: true }] },
    body: JSON.stringify({ ...CHAT, stream: true }),
    answers: [
      {
        headers: EVENTS,
        chunks: [
          chunk({ tool_calls: [call] }),
          chunk({}, { finish_reason: 'tool_calls' }),
          'data: [DONE]\n\n',
        ],
      },
    ],
  });

  expect(text.match(/"name":"send"/g)).toHaveLength(1);
  expect(text).toContain('jane@example.com');
});

it('a realtime session that would bypass the gateway is refused, whoever requires the guardrail', async () => {
  const body = JSON.stringify({ session: { type: 'realtime', instructions: 'Apollo' } });
  const own = await ask({ config: { input_guardrails: [DENYING] }, path: '/realtime/client_secrets', body });

  expect([own.status, own.calls.length]).toEqual([403, 0]);
});

it('a search in a vector store is refused where the workspace denies, because it would pass unread', async () => {
  gateway = await aGateway({
    caller: aCaller({ guardrails: { input_guardrails: ['pg-1'], output_guardrails: [] } }),
    guardrails: {
      'pg-1': {
        id: '00000000-0000-7000-8000-000000000001',
        spec: {
          ...{
            id: 'pg-1',
            type: 'guardrail',
            deny: true,
            isAsync: false,
            isSequential: false,
            failOnError: false,
          },
          ...{ onSuccess: null, onFail: null },
          checks: [
            {
              id: 'default.contains',
              name: null,
              isEnabled: true,
              parameters: { operator: 'none', words: ['Apollo'] },
            },
          ],
        },
      },
    },
  });
  const response = await gateway.request('/v1/vector_stores/vs_1/search', {
    method: 'POST',
    body: '{"query":"Apollo"}',
    headers: { ...JSON_TYPE, 'x-gateway-virtual-key': 'openai-prod' },
  });

  expect([response.status, gateway.calls.length]).toEqual([403, 0]);
});
