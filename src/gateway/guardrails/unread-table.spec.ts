import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';
import { errorCodeIn } from '../../../test/support/refusals.js';
import type { GuardrailSnapshot } from '../ports.js';
import type { UnreadReason } from './texts/unread.js';
import {
  GUARDRAIL_POWERS,
  type GuardrailPower,
  REASONS,
  unreadOutcomeOf,
  type UnreadSide,
  unreadTable,
} from './unread-table.js';

const deep = (inner: string): string => `${'['.repeat(2_500)}${inner}${']'.repeat(2_500)}`;
const base64 = (bytes: Buffer): string => bytes.toString('base64');
const UTF16 = base64(Buffer.from('the Apollo plan', 'utf16le'));
const FORM_TYPE = 'multipart/form-data; boundary=b';
const part = (head: string, value: string): string =>
  `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n`;

/** An endpoint with bodies that hold "Apollo", by what a body's members `more` add to it. */
interface EndpointCase {
  readonly path: string;
  readonly provider: string;
  readonly request: (more: string) => string;
  readonly response: (more: string) => string;
  /** A file of text within a message. */
  readonly file: string | null;
}

const ENDPOINTS: Readonly<Record<string, EndpointCase>> = {
  chat: {
    path: '/chat/completions',
    provider: 'openai',
    request: (more) => `{"model":"m","messages":[{"role":"user","content":"Apollo"}]${more}}`,
    response: (more) => `{"choices":[{"index":0,"message":{"role":"assistant","content":"Apollo"}}]${more}}`,
    file: `{"type":"file","file":{"filename":"a.txt","file_data":"${UTF16}"}}`,
  },
  messages: {
    path: '/messages',
    provider: 'anthropic',
    request: (more) => `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Apollo"}]${more}}`,
    response: (more) =>
      `{"type":"message","role":"assistant","content":[{"type":"text","text":"Apollo"}]${more}}`,
    file: `{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"${UTF16}${UTF16}${UTF16}"}}`,
  },
  responses: {
    path: '/responses',
    provider: 'openai',
    request: (more) => `{"model":"m","input":"Apollo"${more}}`,
    response: (more) =>
      `{"output":[{"type":"message","content":[{"type":"output_text","text":"Apollo"}]}]${more}}`,
    file: `{"type":"input_file","filename":"a.txt","file_data":"${UTF16}"}`,
  },
  'generate-content': {
    path: '/v1beta/models/m:generateContent',
    provider: 'google',
    request: (more) => `{"contents":[{"role":"user","parts":[{"text":"Apollo"}]}]${more}}`,
    response: (more) => `{"candidates":[{"content":{"parts":[{"text":"Apollo"}]}}]${more}}`,
    file: `{"inlineData":{"mimeType":"text/plain","data":"${UTF16}${UTF16}${UTF16}"}}`,
  },
  embeddings: {
    path: '/embeddings',
    provider: 'openai',
    request: (more) => `{"model":"m","input":"Apollo"${more}}`,
    response: (more) => `{"object":"list","data":[],"note":"Apollo"${more}}`,
    file: null,
  },
  transcriptions: {
    path: '/audio/transcriptions',
    provider: 'openai',
    request: () => '',
    response: (more) => `{"text":"Apollo"${more}}`,
    file: null,
  },
};

interface UnreadTableRequest {
  readonly path: string;
  readonly provider: string;
  readonly type: string;
  readonly body: string | Buffer;
  readonly encoding?: string;
}

const sent = (
  { path, provider }: EndpointCase,
  body: string | Buffer,
  type = 'application/json',
): UnreadTableRequest => ({
  ...{ path, provider, type, body },
});

/** A request that cannot be read for a reason, at each endpoint where it can be sent. */
const REQUESTS: Readonly<Record<UnreadReason, (at: EndpointCase, id: string) => UnreadTableRequest | null>> =
  {
    format: (at, id) =>
      id === 'transcriptions' ? null : { ...sent(at, at.request('')), encoding: 'compress' },
    form: (at, id) => (id === 'transcriptions' ? sent(at, part('name="prompt"', 'Apollo'), FORM_TYPE) : null),
    charset: (at, id) =>
      id === 'transcriptions'
        ? sent(at, `${part('name="prompt"', 'A\0p\0o\0l\0l\0o\0')}--b--\r\n`, FORM_TYPE)
        : sent(at, Buffer.from(at.request(',"user":"Apoll\u00f6"'), 'latin1')),
    duplicate: (at, id) =>
      id === 'transcriptions' ? null : sent(at, at.request(',"user":"Apollo","user":"x"')),
    depth: (at, id) => (id === 'transcriptions' ? null : sent(at, at.request(`,"x":${deep('"Apollo"')}`))),
    tokens: (at, id) =>
      id === 'embeddings'
        ? sent(at, '{"model":"m","input":[[2185,385]]}')
        : id === 'transcriptions'
          ? null
          : sent(at, at.request(',"prompt_token_ids":[2185,385]')),
    file: (at) => (at.file === null ? null : sent(at, at.request(`,"more":[${at.file}]`))),
    events: () => null,
    endpoint: () => ({
      path: '/unheard/of',
      provider: 'openai',
      type: 'application/json',
      body: '{"model":"m","prompt":"Apollo"}',
    }),
  };

const JSON_TYPE = 'application/json';
const answer = (body: string | Buffer, type = JSON_TYPE): ScriptedAnswer => ({
  headers: { 'content-type': type },
  chunks: [body],
});

/** A response that cannot be read for a reason. */
const RESPONSES: Readonly<Record<UnreadReason, (at: EndpointCase, id: string) => ScriptedAnswer | null>> = {
  format: (_, id) => (id === 'transcriptions' ? null : answer('<p>Apollo</p>', 'text/html')),
  form: () => null,
  charset: (at) => answer(Buffer.from(at.response(',"x":"Apoll\u00f6"'), 'latin1')),
  duplicate: (at) => answer(at.response(',"x":"Apollo","x":"y"')),
  depth: (at) => answer(at.response(`,"x":${deep('"Apollo"')}`)),
  tokens: (at) => answer(at.response(',"token_ids":[2185,385]')),
  file: (at) => answer(at.response(`,"more":{"type":"file","filename":"a.txt","file_data":"${UTF16}"}`)),
  events: (_, id) =>
    id === 'embeddings' || id === 'transcriptions'
      ? null
      : answer('data: the Apollo\n\n', 'text/event-stream'),
  endpoint: () => answer('{"text":"Apollo"}'),
};

const TOKENS = '[2185,385]';
const UTF7 = 'charset=utf-7';
const field = (value: string): string => part('name="prompt"', value);

/** More requests that cannot be read for a reason of the table. */
const MORE_REQUESTS: readonly (readonly [
  name: string,
  UnreadReason,
  (at: EndpointCase, id: string) => UnreadTableRequest | null,
])[] = [
  ...['tokens', 'prompt_tokens', 'input_tokens', 'context', 'ids'].map((name) =>
    numbers(`a list ${name}`, `"${name}":${TOKENS}`),
  ),
  numbers('ids of an input', `"input":{"ids":${TOKENS}}`),
  numbers('a part of tokens', `"more":[{"type":"tokens","data":${TOKENS}}]`),
  numbers('a part of tokens at any depth', `"more":[{"type":"tokens","value":{"data":${TOKENS}}}]`),
  numbers('a part of tokens in base64', `"more":[{"type":"input_tokens","data":"iQgAAIEBAAA="}]`),
  [
    'a body that declares UTF-7',
    'charset',
    (at, id) => (id === 'transcriptions' ? null : sent(at, at.request(''), `application/json; ${UTF7}`)),
  ],
  [
    'a body that declares two charsets',
    'charset',
    (at, id) =>
      id === 'transcriptions'
        ? null
        : sent(at, at.request(''), `application/json; charset=utf-8; charset*=utf-8''utf-16`),
  ],
  [
    'a form that declares UTF-7',
    'charset',
    (at, id) =>
      id === 'transcriptions' ? sent(at, `${field('Apollo')}--b--\r\n`, `${FORM_TYPE}; ${UTF7}`) : null,
  ],
  [
    'a field that a form has twice',
    'duplicate',
    (at, id) =>
      id === 'transcriptions' ? sent(at, `${field('x')}${field('Apollo')}--b--\r\n`, FORM_TYPE) : null,
  ],
  [
    'a field and a file of one name',
    'duplicate',
    (at, id) =>
      id === 'transcriptions'
        ? sent(at, `${part('name="prompt"; filename="a.txt"', 'x')}${field('Apollo')}--b--\r\n`, FORM_TYPE)
        : null,
  ],
];

function numbers(name: string, member: string): (typeof MORE_REQUESTS)[number] {
  const request = (at: EndpointCase, id: string): UnreadTableRequest | null =>
    id === 'transcriptions' || (member.startsWith('"input"') && at.request('').includes('"input"'))
      ? null
      : sent(at, at.request(`,${member}`));
  return [name, 'tokens', request];
}

const CHECKS = {
  denies: { 'default.contains': { operator: 'none', words: ['Nothing of it'] }, deny: true },
  redacts: { 'default.pii': { redact: true } },
  'only records': { 'default.contains': { operator: 'none', words: ['Nothing of it'] } },
};
const IMPOSED: GuardrailSnapshot = {
  id: '00000000-0000-7000-8000-000000000001',
  spec: {
    ...{
      id: 'pg-1',
      type: 'guardrail',
      deny: false,
      isAsync: false,
      isSequential: false,
      failOnError: false,
    },
    ...{ onSuccess: null, onFail: null },
    checks: [
      {
        ...{ id: 'default.contains', name: null, isEnabled: true },
        parameters: { operator: 'none', words: ['Nothing of it'] },
      },
    ],
  },
};

let gateway: TestGateway | null = null;
afterEach(async () => {
  await gateway?.close();
  gateway = null;
});

const listOf = (side: UnreadSide) => (side === 'request' ? 'input_guardrails' : 'output_guardrails');

async function exchange(
  power: GuardrailPower,
  side: UnreadSide,
  request: UnreadTableRequest,
  response: ScriptedAnswer,
) {
  const none = { input_guardrails: [], output_guardrails: [] };
  const imposed = power === 'is imposed' ? { guardrails: { ...none, [listOf(side)]: ['pg-1'] } } : {};
  const config = power === 'is imposed' ? {} : { [listOf(side)]: [CHECKS[power]] };
  gateway = await aGateway({
    caller: aCaller(imposed),
    guardrails: { 'pg-1': IMPOSED },
    answers: [response],
  });
  const got = await gateway.request(`/v1${request.path}`, {
    method: 'POST',
    body: request.body,
    headers: {
      'content-type': request.type,
      'x-gateway-provider': request.provider,
      authorization: 'Bearer provider-key',
      ...(request.encoding && { 'content-encoding': request.encoding }),
      ...(Object.keys(config).length > 0 && { 'x-gateway-config': JSON.stringify(config) }),
    },
  });
  const text = await got.text();
  await expect.poll(() => gateway?.logs.length, { interval: 1 }).toBe(1);
  return { status: got.status, text, calls: gateway.calls.length, record: gateway.logs[0]?.record };
}

const FINE = answer('{"choices":[],"content":[],"output":[],"candidates":[],"data":[],"text":"fine"}');

interface Cell {
  readonly reason: UnreadReason;
  readonly power: GuardrailPower;
  readonly side: UnreadSide;
  readonly endpoint: string;
}

const cells = (side: UnreadSide): Cell[] =>
  REASONS.flatMap((reason) =>
    GUARDRAIL_POWERS.flatMap((power) =>
      Object.keys(ENDPOINTS).map((endpoint) => ({ reason, power, side, endpoint })),
    ),
  ).filter(({ reason, power, endpoint }) => {
    // Passing streams are the subject of the stream guard and its tests.
    if (reason === 'events' && power === 'only records') return false;
    const at = ENDPOINTS[endpoint] as EndpointCase;
    const made = side === 'request' ? REQUESTS[reason](at, endpoint) : RESPONSES[reason](at, endpoint);
    return made !== null && unreadOutcomeOf(reason, power, side) !== null;
  });

const resultsIn = (record: unknown, side: UnreadSide): unknown =>
  (record as { hook_results?: Record<string, unknown> } | undefined)?.hook_results?.[
    side === 'request' ? 'before_request_hooks' : 'after_request_hooks'
  ];

describe('a request that a guardrail cannot read', () => {
  it.each(cells('request'))(
    '$reason at $endpoint, under one that $power',
    async ({ reason, power, endpoint }) => {
      const request = REQUESTS[reason](ENDPOINTS[endpoint] as EndpointCase, endpoint) as UnreadTableRequest;
      const { status, text, calls, record } = await exchange(power, 'request', request, FINE);

      const outcome = unreadOutcomeOf(reason, power, 'request') ?? '';
      const [, expected, code] = /^(\d{3}) `(.*)`$/.exec(outcome) ?? [];
      if (expected === undefined)
        expect(resultsIn(record, 'request')).toMatchObject([{ checks: [{ error: { name: 'Unread' } }] }]);
      else {
        expect([status, calls]).toEqual([Number(expected), 0]);
        expect(errorCodeIn(JSON.parse(text))).toBe(code);
      }
    },
  );
});

describe('more of a request that a guardrail cannot read', () => {
  const rows = MORE_REQUESTS.flatMap(([name, reason, request]) =>
    Object.entries(ENDPOINTS).flatMap(([id, at]) => {
      const made = request(at, id);
      return made ? [{ name, reason, id, made }] : [];
    }),
  );

  it.each(rows)(
    'is refused for its reason, whatever a guardrail may do: $name at $id',
    async ({ reason, made }) => {
      for (const power of ['denies', 'redacts', 'is imposed'] as const) {
        const { status, text, calls } = await exchange(power, 'request', made, FINE);
        const [, expected, code] =
          /^(\d{3}) `(.*)`$/.exec(unreadOutcomeOf(reason, power, 'request') ?? '') ?? [];

        expect([status, calls]).toEqual([Number(expected), 0]);
        expect(errorCodeIn(JSON.parse(text))).toBe(code);
        await gateway?.close();
      }
      const { record } = await exchange('only records', 'request', made, FINE);
      expect(resultsIn(record, 'request')).toMatchObject([{ checks: [{ data: { unread: reason } }] }]);
    },
  );

  it.each([
    [
      'files of one name',
      `${part('name="image"; filename="a"', '\x01')}${part('name="image"; filename="b"', '\x01')}`,
    ],
    ['a list', `${part('name="include[]"', 'a')}${part('name="include[]"', 'b')}`],
  ])('does not include %s in a form', async (_, parts) => {
    const request = sent(ENDPOINTS.transcriptions as EndpointCase, `${parts}--b--\r\n`, FORM_TYPE);

    expect((await exchange('denies', 'request', request, FINE)).status).toBe(200);
  });
});

describe('a response that declares another charset', () => {
  const chat = ENDPOINTS.chat as EndpointCase;
  const request = sent(chat, chat.request(''));
  const event = 'data: {"choices":[{"index":0,"delta":{"content":"Apollo"}}]}\n\n';

  it.each([
    ['UTF-7', answer(chat.response(''), `application/json; ${UTF7}`)],
    ['UTF-7 of a stream', answer(event, `text/event-stream; ${UTF7}`)],
    [
      'Latin-1 with more than ASCII',
      answer(chat.response(',"x":"\u00f6"'), 'application/json; charset=ISO-8859-1'),
    ],
  ])('is withheld: %s', async (_, response) => {
    for (const power of ['denies', 'redacts', 'is imposed'] as const) {
      expect((await exchange(power, 'response', request, response)).text).not.toContain('Apollo');
      await gateway?.close();
    }
  });

  it.each([
    ['Latin-1 of ASCII', answer(chat.response(''), 'application/json; charset=ISO-8859-1')],
    ['UTF-8', answer(event, 'text/event-stream; charset="UTF-8"')],
  ])('passes where it says the same in UTF-8: %s', async (_, response) => {
    expect((await exchange('denies', 'response', request, response)).text).toContain('Apollo');
  });

  it('may list the tokens of a transcript, which are left out where it is redacted', async () => {
    const body = `${part('name="model"', 'm')}${part('name="file"; filename="a.mp3"', '\x01')}--b--\r\n`;
    const transcript = sent(ENDPOINTS.transcriptions as EndpointCase, body, FORM_TYPE);
    const said = (text: string) =>
      answer(`{"text":"${text}","segments":[{"text":"${text}","tokens":[50364,7]}]}`);

    expect((await exchange('redacts', 'response', transcript, said('fine'))).text).toContain('50364');
    await gateway?.close();
    const { status, text } = await exchange('redacts', 'response', transcript, said('joe@example.com'));
    expect([status, text.includes('joe@'), text.includes('50364')]).toEqual([200, false, false]);
  });
});

describe('a response that a guardrail cannot read', () => {
  it.each(cells('response'))(
    '$reason at $endpoint, under one that $power',
    async ({ reason, power, endpoint }) => {
      const at = ENDPOINTS[endpoint] as EndpointCase;
      const form = `${part('name="model"', 'm')}${part('name="file"; filename="a.mp3"', '\x01')}--b--\r\n`;
      const body = endpoint === 'transcriptions' ? form : at.request('').replace('Apollo', 'Hi');
      const path = reason === 'endpoint' ? '/unheard/of' : at.path;
      const request = { ...at, path, body, type: endpoint === 'transcriptions' ? FORM_TYPE : JSON_TYPE };
      const response = RESPONSES[reason](at, endpoint) as ScriptedAnswer;
      const { status, text, record } = await exchange(power, 'response', request, response);

      const outcome = unreadOutcomeOf(reason, power, 'response') ?? '';
      if (outcome === 'recorded') {
        expect(text).toContain('Apoll');
        expect(resultsIn(record, 'response')).toMatchObject([{ checks: [{ error: { name: 'Unread' } }] }]);
      } else {
        expect(text).not.toContain('Apoll');
        const [, expected, code] = /^(\d{3}) `(.*)`$/.exec(outcome) ?? [];
        if (reason !== 'events') expect([status, record?.error_code]).toEqual([Number(expected), code]);
      }
    },
  );
});

describe('the table of unread content in docs/guardrails.md', () => {
  it('is the one whose cells are tested here', async () => {
    const page = await readFile(new URL('../../../docs/guardrails.md', import.meta.url), 'utf8');

    expect(page).toContain(`\n${unreadTable()}\n`);
  });
});
