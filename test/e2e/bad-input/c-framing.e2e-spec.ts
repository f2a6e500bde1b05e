import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RawExchange, rawExchange } from '../../support/raw-client.js';
import { expectRefusal, Vitals } from '../../support/refusals.js';
import { CanaryListener } from '../../support/upstreams/canary-listener.js';
import { header } from '../../support/upstreams/echo.js';
import { type Logged, World } from '../../support/world.js';

/** Section C: framing and headers, as raw bytes. */
let world: World;
let vitals: Vitals;

beforeAll(async () => {
  world = await World.create('framing');
  vitals = new Vitals(world.service);
});
beforeEach(() => world.upstream.reset());
afterEach(() => vitals.check());
afterAll(() => world.close());

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string | null;
  /** Lines as they stand, each without its end. */
  readonly lines?: readonly string[];
  readonly body?: string;
  readonly credentials?: readonly string[];
}

/** Each request has a trace id of its own: where framing is broken, the answer may not tell the request's. */
const mine = (): string[] =>
  Object.entries({ ...world.headers, 'x-gateway-trace-id': world.newTrace() }).map(
    ([name, value]) => `${name}: ${value}`,
  );

function bytesOf({
  method = 'POST',
  target = '/v1/framing',
  host = 'gateway.example',
  lines = [],
  body = '',
  credentials = mine(),
}: Sent): string {
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...(host === null ? [] : [`Host: ${host}`]),
    ...credentials,
    ...lines,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Until the answers are there, and some time longer: none may follow. */
async function exchange(
  bytes: string | readonly string[],
  logged: Logged = 'at most once',
  until: Parameters<typeof rawExchange>[2] = { lingerMs: 150 },
): Promise<RawExchange> {
  const result = await rawExchange(world.service.baseUrl, bytes, until);
  for (const answer of result.answers) world.note(answer.headers.get('x-gateway-request-id') ?? '', logged);
  return result;
}

/** Until the other side has ended the connection. */
const untilCut = (bytes: string | readonly string[], logged?: Logged): Promise<RawExchange> =>
  exchange(bytes, logged, {});

const SMUGGLED = '/v1/smuggled';
const smuggled = (): string => bytesOf({ method: 'GET', target: SMUGGLED });
const reached = (): string[] => world.upstream.ledger.map(({ target }) => target);

/** Nothing may be handled, and the connection may not go on: what follows on it is not to be trusted. */
function expectCut({ answers, ended }: RawExchange, statuses: readonly number[] = [400]): void {
  expect(answers.map(({ status }) => status).filter((status) => status !== 100)).toEqual([
    expect.toBeOneOf([...statuses]),
  ]);
  expect(ended).not.toBe('open');
  expect(reached()).toEqual([]);
}

describe('C: framing that two readers could read differently is refused', () => {
  it('C01: content-length beside transfer-encoding, with a second request inside', async () => {
    const inner = smuggled();
    expectCut(
      await untilCut(
        bytesOf({
          lines: [`Content-Length: ${inner.length + 5}`, 'Transfer-Encoding: chunked'],
          body: `0\r\n\r\n${inner}`,
        }),
      ),
    );
  });

  it.each([
    'xchunked',
    'chunked, identity',
    'identity',
    'gzip',
    ' chunked, chunked',
    'chunked;q=1',
    '\x0bchunked',
  ])('C02: Transfer-Encoding: %j', async (value) => {
    expectCut(
      await untilCut(bytesOf({ lines: [`Transfer-Encoding: ${value}`], body: `0\r\n\r\n${smuggled()}` })),
      [400, 501],
    );
  });

  it.each([
    ['twice the same', ['Content-Length: 2', 'Content-Length: 2']],
    ['twice different', ['Content-Length: 2', 'Content-Length: 200']],
    ['a list', ['Content-Length: 2, 2']],
    ['signed', ['Content-Length: +2']],
    ['negative', ['Content-Length: -1']],
    ['hexadecimal', ['Content-Length: 0x2']],
    ['too large', ['Content-Length: 99999999999999999999']],
    ['with a blank before the colon', ['Content-Length : 2']],
  ])('C06: content-length %s', async (_, lines) => {
    expectCut(await untilCut(bytesOf({ lines, body: `{}${smuggled()}` })));
  });

  it('C09: line ends of one byte', async () => {
    expectCut(await untilCut(bytesOf({ method: 'GET' }).replaceAll('\r\n', '\n')));
  });

  it('C09: a folded header line', async () => {
    expectCut(await untilCut(bytesOf({ method: 'GET', lines: ['X-Folded: a', ' b'] })));
  });

  it.each([
    'zz\r\n{}\r\n0\r\n\r\n',
    '-2\r\n{}\r\n0\r\n\r\n',
    '2\n{}\n0\n\n',
    '2;\n{}\r\n0\r\n\r\n',
    'fffffffffffffffff\r\n{}',
  ])('C02: a chunk size of %j', async (body) => {
    const { answers, ended } = await untilCut(
      bytesOf({ lines: ['Transfer-Encoding: chunked'], body: body + smuggled() }),
    );
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    expect(ended).not.toBe('open');
    expect(reached()).not.toContain(`/base/v9${SMUGGLED.slice(3)}`);
    expect(world.upstream.ledger.filter(({ complete }) => complete)).toEqual([]);
  });

  it('C17: two Host headers', async () => {
    const { answers } = await exchange(bytesOf({ method: 'GET', lines: ['Host: other.example'] }));
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(reached()).toEqual([]);
  });

  it.each([null, '', 'gw/../admin', 'gw:99999', 'a b', 'evil.com@gw', 'gw#x', 'gw?x'])(
    'C18: Host: %j',
    async (host) => {
      const { answers } = await exchange(bytesOf({ method: 'GET', host }));
      expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 421])]);
      expect(reached()).toEqual([]);
    },
  );

  it('C18: a foreign Host appears nowhere in the response', async () => {
    const { bytes } = await exchange(
      bytesOf({ method: 'GET', target: '/v1/nothing', host: 'evil.example', credentials: [] }),
      'never',
    );
    expect(bytes.toString()).not.toContain('evil.example');
  });

  it('C31: a body that is another request is never handled as one', async () => {
    const inner = smuggled();
    const { answers } = await exchange(
      bytesOf({
        credentials: ['x-gateway-api-key: gw_ws_nobody'],
        lines: [`Content-Length: ${inner.length}`],
        body: inner,
      }),
      'never',
    );
    expect(answers.map(({ status }) => status)).toEqual([401]);
    expect(reached()).toEqual([]);
  });

  it('C31: a refusal ends the connection when the body has not come yet', async () => {
    const { answers, ended } = await untilCut(
      [
        bytesOf({ credentials: ['x-gateway-api-key: gw_ws_nobody'], lines: ['Content-Length: 100000'] }),
        smuggled(),
      ],
      'never',
    );
    expect(answers.map(({ status }) => status)).toEqual([401]);
    expect(ended).not.toBe('open');
    expect(reached()).toEqual([]);
  });

  it.each([
    ['GET', ['Content-Length: 10'], '0123456789'],
    ['GET', ['Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['HEAD', ['Content-Length: 10'], '0123456789'],
  ])('C34: %s with %j', async (method, lines, body) => {
    const { answers } = await exchange(bytesOf({ method, lines, body }));
    expect(answers.map(({ status }) => status)).toEqual([400]);
    if (method === 'GET') expectRefusal(answers[0]?.body ?? Buffer.alloc(0), 'body_not_allowed');
    expect(reached()).toEqual([]);
  });
});

describe('C: methods', () => {
  it.each(['TRACE', 'OPTIONS', 'PROPFIND', 'PURGE', 'LINK'])(
    'C35: %s is not allowed, and the response names the allowed ones',
    async (method) => {
      const { answers } = await exchange(bytesOf({ method, target: '/v1/x' }));
      expect(answers.map(({ status }) => status)).toEqual([405]);
      expect(answers[0]?.headers.get('allow')).toContain('GET');
      expectRefusal(answers[0]?.body ?? Buffer.alloc(0), 'method_not_allowed');
      expect(reached()).toEqual([]);
    },
  );

  it.each(['BREW', 'get', 'G ET'])('C35: %j is not a valid method', async (method) => {
    const { answers } = await exchange(bytesOf({ method, target: '/v1/x' }));
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 405, 501])]);
    expect(reached()).toEqual([]);
  });

  it('C36: CONNECT opens no tunnel', async () => {
    const canary = await CanaryListener.start();
    const { answers, ended } = await untilCut(
      bytesOf({ method: 'CONNECT', target: `127.0.0.1:${canary.port}` }),
    );
    await canary.stop();
    expect(answers.filter(({ status }) => status === 200)).toEqual([]);
    expect(ended).not.toBe('open');
    expect(canary.hits).toBe(0);
  });

  it.each(['h2c', 'websocket'])('C36: Upgrade: %s changes no protocol', async (protocol) => {
    const { answers } = await exchange(
      bytesOf({ method: 'GET', lines: ['Connection: Upgrade', `Upgrade: ${protocol}`] }),
    );
    expect(answers.map(({ status }) => status)).not.toContain(101);
  });
});

const post = (lines: readonly string[]): string =>
  bytesOf({ lines: [...lines, 'Content-Length: 2'], body: '{}' });

describe('C: headers', () => {
  it('C14: trailers change nothing, least of all who is calling', async () => {
    const admin = world.service.bootstrap.admin_api_key;
    const trailers = `x-gateway-api-key: ${admin}\r\nx-gateway-virtual-key: other\r\n`;
    const { answers } = await exchange(
      bytesOf({
        lines: ['Transfer-Encoding: chunked', 'Trailer: x-gateway-api-key'],
        body: `2\r\n{}\r\n0\r\n${trailers}\r\n`,
      }),
      'once',
    );
    expect(answers.map(({ status }) => status)).toEqual([200]);
    const [received] = world.upstream.ledger;
    expect(received?.body.toString()).toBe('{}');
    const row = await world.logs.row(answers[0]?.headers.get('x-gateway-request-id') ?? '');
    expect(row.api_key_id).toBe(world.apiKey.id);
  });

  it('C20: Connection cannot remove the injected credential', async () => {
    const { answers } = await exchange(
      post(['Connection: authorization, x-gateway-virtual-key, host, content-length']),
      'once',
    );
    expect(answers.map(({ status }) => status)).toEqual([200]);
    const [received] = world.upstream.ledger;
    expect(received && header(received, 'authorization')).toBe(`Bearer ${world.providerSecret}`);
    expect(received?.body.toString()).toBe('{}');
  });

  it('C24: what is the gateway’s own business stays here', async () => {
    const { answers } = await exchange(
      post([
        'X-GATEWAY-Span-Id: t',
        'x-gateway-metadata: {"a":"b"}',
        'x-portkey-debug: false',
        'x-portkey-anything-else: x',
        'Cookie: session=canary',
        'X-Forwarded-For: 1.2.3.4',
        'X-Forwarded-Host: evil.example',
        'Forwarded: for=1.2.3.4',
        'X-Real-IP: 1.2.3.4',
        'Proxy-Authorization: Basic eDp5',
        'TE: trailers',
        'Keep-Alive: timeout=5',
        'X-Kept: yes',
      ]),
      'once',
    );
    expect(answers.map(({ status }) => status)).toEqual([200]);
    const [received] = world.upstream.ledger;
    const names = (received?.headers ?? []).map(([name]) => name.toLowerCase());
    expect(
      names.filter((name) =>
        /^(x-gateway|x-portkey|x-forwarded|forwarded|cookie|x-real-ip|proxy-|te$|keep-alive)/.test(name),
      ),
    ).toEqual([]);
    expect(received && header(received, 'x-kept')).toBe('yes');
  });

  it('C24: the gateway key reaches no provider, in whatever header it is', async () => {
    const { key } = world.apiKey;
    const { answers } = await exchange(
      post([`X-Copy: ${key}`, `X-Other: prefix ${key} suffix`, `api-key: ${key}`]),
      'once',
    );
    expect(answers.map(({ status }) => status)).toEqual([200]);
    expect(JSON.stringify(world.upstream.ledger[0]?.headers)).not.toContain(key);
  });

  it('C25: Expect: 100-continue is honoured, and the call succeeds', async () => {
    const head = bytesOf({ lines: ['Expect: 100-continue', 'Content-Length: 2'] });
    const { answers } = await exchange([head, '{}'], 'once');
    expect(answers.map(({ status }) => status)).toEqual([100, 200]);
    expect(world.upstream.ledger[0]?.body.toString()).toBe('{}');
    expect(world.upstream.ledger[0] && header(world.upstream.ledger[0], 'expect')).toBeUndefined();
  });

  it('C25: a bad key is refused with 401 before the client sends its body', async () => {
    const credentials = ['x-gateway-api-key: gw_ws_unknown', 'x-gateway-provider: openai'];
    const head = bytesOf({ credentials, lines: ['Expect: 100-continue', 'Content-Length: 2'] });
    const { answers } = await exchange(head);
    expect(answers.map(({ status }) => status)).toEqual([401]);
    expect(reached()).toEqual([]);
  });

  it('C28: a header of 17 KiB is too large', async () => {
    const { answers } = await exchange(post([`X-Big: ${'a'.repeat(17 * 1024)}`]));
    expect(answers.map(({ status }) => status)).toEqual([431]);
    expect(reached()).toEqual([]);
  });

  it('C28: 2100 headers are too many', async () => {
    const { answers } = await exchange(post(Array.from({ length: 2_100 }, (_, i) => `a${i}: b`)));
    expect(answers.map(({ status }) => status)).toEqual([431]);
    expect(reached()).toEqual([]);
  });

  it('C28: a client’s own Authorization of 15 KiB arrives whole or is refused', async () => {
    const long = 'a'.repeat(15 * 1024);
    const credentials = Object.entries({
      ...world.hostHeaders(world.upstream.url),
      authorization: `Bearer ${long}`,
    });
    const { answers } = await exchange(
      bytesOf({
        credentials: credentials.map(([name, value]) => `${name}: ${value}`),
        lines: ['Content-Length: 2'],
        body: '{}',
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([200, 400, 431])]);
    for (const received of world.upstream.ledger)
      expect(header(received, 'authorization')).toBe(`Bearer ${long}`);
  });

  it.each(['caf\u00e9', '\u0080\u00ff', '\u00f0\u009f\u00a6\u0089'])(
    'C29: bytes above 127 in a header (%j) go on as they are or are refused',
    async (value) => {
      const { answers } = await exchange(post([`X-Bytes: ${value}`]));
      expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([200, 400])]);
      for (const received of world.upstream.ledger) expect(header(received, 'x-bytes')).toBe(value);
    },
  );

  it.each([
    '{"mood":"🦉"}',
    '{"a":1}',
    '[]',
    '{',
    'null',
    '{"a":"b","__proto__":"x"}',
    `{"a":"${'x'.repeat(200)}"}`,
  ])('C29: metadata %s is taken or refused, never a failure of ours', async (metadata) => {
    const { answers } = await exchange(
      post([`x-gateway-metadata: ${Buffer.from(metadata).toString('latin1')}`]),
    );
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([200, 400])]);
  });

  it.each(['X-A: a\rb', 'X-A: a\0b', 'X A: b', ': b', 'X-A\u00e9: b'])(
    'C30: the header line %j is refused',
    async (line) => {
      const { answers } = await exchange(post([line]));
      expect(answers.map(({ status }) => status)).toEqual([400]);
      expect(reached()).toEqual([]);
    },
  );

  it.each(['__proto__: x', 'constructor: y', 'toString: z', 'hasOwnProperty: 1'])(
    'C41: the header %j is one like any other',
    async (line) => {
      const { answers } = await exchange(post([line]), 'once');
      expect(answers.map(({ status }) => status)).toEqual([200]);
      const [name = '', value = ''] = line.split(': ');
      expect(world.upstream.ledger[0] && header(world.upstream.ledger[0], name.toLowerCase())).toBe(value);
    },
  );

  it('two different gateway keys in one request are refused', async () => {
    const { answers } = await exchange(
      post([`x-gateway-api-key: ${world.service.bootstrap.workspace_api_key}`]),
      'at most once',
    );
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 401])]);
    expect(reached()).toEqual([]);
  });

  it('two requests at once on one connection get their responses in order', async () => {
    const both =
      bytesOf({ method: 'GET', target: '/v1/one' }) + bytesOf({ method: 'GET', target: '/v1/two' });
    const { answers } = await exchange(both, 'once', { answers: 2 });
    expect(answers.map(({ body }) => (JSON.parse(body.toString()) as { target: string }).target)).toEqual([
      '/base/v9/one',
      '/base/v9/two',
    ]);
  });
});

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
