import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, jsonOf } from '../../support/http-client.js';
import { expectRefusal } from '../../support/refusals.js';
import { eventually } from '../../support/waiting.js';
import { World } from '../../support/world.js';

/** Sections K (exports) and M (analytics, search, lists) of the catalogue, against the built service. */
const SCOPES = ['completions.write', 'logs.list', 'logs.view', 'logs.export', 'logs.write', 'analytics.view'];
/** What a spreadsheet might take for a formula, or for the end of a cell. */
const CELLS = ['=1+1', '+cmd', '-2', '@x', '\tx', '\rx', '＝1', '"=1', 'a\nb,"c"', 'harmless'];
const PATH = '/base/v9/chat/completions';

let world: World;
let service: World['service'];

beforeAll(async () => {
  world = await World.create('bad-queries', undefined, SCOPES);
  ({ service } = world);
  world.upstream.on(PATH, { headers: [['content-type', 'application/json']], body: '{}' });
  for (const model of CELLS) await ask(model);
});
afterAll(async () => {
  await world.checkLog();
  await world.checkCanaries();
  await world.close();
});

async function ask(model: string): Promise<void> {
  const body = { model, messages: [{ role: 'user', content: 'x' }] };
  const headers = { ...world.headers, 'content-type': 'application/json' };
  const { requestId } = await world.send({ method: 'POST', path: '/v1/chat/completions', body, headers });
  await world.logs.row(requestId);
}

async function get(
  path: string,
  query: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const parameters = new URLSearchParams(query).toString();
  return service.client.call({
    path: `${path}${parameters ? `?${parameters}` : ''}`,
    headers: { 'x-gateway-api-key': world.apiKey.key, ...headers },
  });
}

const LISTS = ['/v1/logs', '/v1/analytics/graphs/requests', '/v1/analytics/groups/ai-models'] as const;

/** How many requests an answer of one of the lists is about. */
function foundIn(path: (typeof LISTS)[number], answer: Answer): number {
  const { data, summary } = jsonOf(answer);
  return path.endsWith('requests') ? (summary.total as number) : (data as unknown[]).length;
}

describe.each(LISTS)('%s', (path) => {
  it.each([['%'], ['%'.repeat(100)], ['_'.repeat(100)], ['harmles_'], ['.*'], ['\\'], ["' OR '1'='1"]])(
    'M01: takes the filter %j literally and finds nothing',
    async (value) => {
      for (const name of ['ai_model', 'trace_id', 'user', 'virtual_key', 'prompt_slug']) {
        const answer = await get(path, { [name]: value });
        expect(answer.status, `${name}: ${answer.body.toString()}`).toBe(200);
        expect(foundIn(path, answer), name).toBe(0);
      }
      expect(
        foundIn(path, await get(path, { ai_model: 'harmless' })),
        'the filter itself works',
      ).toBeGreaterThan(0);
    },
  );

  it.each([["x' OR 1=1--"], ['"'], ['\\'], ['a"b\'c\\d'], ['ключ'], ['$1'], ["_environment' || '"]])(
    'M05: looks for the key %j of the metadata and finds nothing',
    async (key) => {
      const answer = await get(path, { [`metadata[${key}]`]: '1' });
      expect(answer.status, answer.body.toString()).toBe(200);
      expect(foundIn(path, answer)).toBe(0);
    },
  );
});

describe('M04: what is grouped and ordered by', () => {
  it.each([
    ['/v1/analytics/groups/model;drop table request_logs', {}],
    ["/v1/analytics/groups/model'--", {}],
    ['/v1/analytics/groups/__proto__', {}],
    ['/v1/analytics/groups/model', { order_by: 'created_at desc,(select pg_sleep(5))' }],
    ['/v1/analytics/groups/model', { order_by: 'requests', order_by_type: 'desc;select 1' }],
    ['/v1/analytics/groups/model', { columns: 'requests,(select version())' }],
    ['/v1/analytics/groups/model', { columns: 'constructor' }],
    ['/v1/analytics/graphs/requests', { interval: "day' OR '1'='1" }],
    ['/v1/analytics/graphs/requests', { time_zone: "UTC'; select pg_sleep(5)--" }],
    ['/v1/logs', { sort: 'created_at desc,(select pg_sleep(5))' }],
    ['/v1/logs', { cursor: "' OR 1=1" }],
  ] as [string, Record<string, string>][])('%s %j is one of a list, or refused', async (path, query) => {
    const [head = '', ...rest] = path.split('/groups/');
    const encoded = rest.length > 0 ? `${head}/groups/${encodeURIComponent(rest.join(''))}` : head;
    const answer = await get(encoded, query);
    expect(answer.status, answer.body.toString()).toBe(400);
    expectRefusal(answer.body, 'invalid_request');
  });
});

describe('an export', () => {
  async function exported(): Promise<string> {
    const made = await service.client.call({
      method: 'POST',
      path: '/v1/logs/exports',
      headers: { 'x-gateway-api-key': world.apiKey.key },
      body: {
        filters: { api_key_id: world.apiKey.id },
        requested_data: ['ai_model', 'response_status_code', 'metadata'],
        format: 'csv',
      },
    });
    expect(made.status, made.body.toString()).toBeLessThan(300);
    const id = jsonOf(made).id as string;
    const started = await service.client.call({
      method: 'POST',
      path: `/v1/logs/exports/${id}/start`,
      headers: { 'x-gateway-api-key': world.apiKey.key },
    });
    expect(started.status, started.body.toString()).toBeLessThan(300);
    await eventually(async () => jsonOf(await get(`/v1/logs/exports/${id}`)).status === 'success', {
      what: 'the file',
    });
    return id;
  }

  it('K17, K05: has no cell that a spreadsheet takes for a formula, says the same without the apostrophe, and is a download', async () => {
    const file = await get(`/v1/logs/exports/${await exported()}/file`);
    expect(file.status).toBe(200);
    expect(file.headers).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const cells = cellsOf(file.body.toString())
      .map(([model = '']) => model)
      .slice(1);
    expect(cells.filter((cell) => /^[=+\-@\t\r＝]/.test(cell))).toEqual([]);
    expect(cells.map((cell) => cell.replace(/^'/, ''))).toEqual(CELLS);
  });
});

/** RFC 4180, written down a second time: https://www.rfc-editor.org/rfc/rfc4180 */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [];
  let [row, cell, isQuoted]: [string[], string, boolean] = [[], '', false];
  for (let at = 0; at < text.length; at++) {
    const [char = '', next] = [text[at], text[at + 1]];
    if (isQuoted && char === '"' && next === '"') [cell, at] = [`${cell}"`, at + 1];
    else if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted) cell += char;
    else if (char === ',') [row, cell] = [[...row, cell], ''];
    else if (char === '\r' && next === '\n') {
      rows.push([...row, cell]);
      [row, cell, at] = [[], '', at + 1];
    } else cell += char;
  }
  return rows;
}

describe('a browser', () => {
  it.each([
    ['text/plain', '{"trace_id":"x","value":1}'],
    ['application/x-www-form-urlencoded', 'trace_id=x&value=1'],
    [
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="trace_id"\r\n\r\nx\r\n--b--\r\n',
    ],
  ])('K08: cannot be made to send a form as %s', async (type, body) => {
    const answer = await service.client.call({
      method: 'POST',
      path: '/v1/feedback',
      headers: { 'x-gateway-api-key': world.apiKey.key, 'content-type': type },
      body,
    });
    expect(answer.status, answer.body.toString()).toBe(415);
  });

  it.each(['https://evil.example', 'null', 'https://gw.evil.com'])(
    'K12: is not let in from %s',
    async (origin) => {
      for (const answer of [
        await get('/v1/logs', {}, { origin }),
        await service.client.call({
          method: 'OPTIONS',
          path: '/v1/logs',
          headers: {
            origin,
            'access-control-request-method': 'GET',
            'access-control-request-headers': 'x-gateway-api-key',
          },
        }),
      ])
        expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    },
  );

  it('K11: changes nothing by reading: no operation of logs and analytics that is a GET writes', async () => {
    const count = async (): Promise<unknown> => [
      jsonOf(await get('/v1/logs/exports')).total,
      jsonOf(await world.administration.call('GET', '/v1/audit-logs?page_size=1')).total,
    ];
    const before = await count();
    for (const path of [
      ...LISTS,
      '/v1/logs/exports',
      '/v1/analytics/summary/cache',
      '/v1/analytics/groups/metadata/team',
    ])
      expect((await get(path)).status, path).toBe(200);
    expect(await count()).toEqual(before);
  });

  it('K20: keeps nothing of a response, refusals included', async () => {
    const answers = [
      await get('/v1/logs'),
      await get('/v1/analytics/graphs/cost'),
      await get('/v1/logs', { nonsense: '1' }),
      await get('/v1/logs/not-an-id'),
      await get('/v1/logs/exports/not-an-id/file'),
      await get('/v1/api-keys'),
      await service.client.call({ path: '/v1/logs' }),
      await world.send({
        path: '/v1/chat/completions',
        headers: { ...world.headers, 'x-gateway-virtual-key': 'there-is-none' },
      }),
    ];
    expect(answers.map(({ headers }) => headers['cache-control'])).toEqual(answers.map(() => 'no-store'));
  });
});
