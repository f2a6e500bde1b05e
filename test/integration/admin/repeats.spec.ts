import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';

const PATH = '/v1/api-keys/workspace/service';

describe('a POST with an Idempotency-Key', () => {
  let app: AdminApp;

  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const make = (key: string, name = 'A key', as?: string) =>
    app.call('POST', PATH, {
      body: { name, workspace_id: app.first.workspace_id, scopes: ['logs.list'] },
      headers: { 'idempotency-key': key },
      key: as,
    });
  const named = async (name: string): Promise<number> => {
    const { body } = await app.call('GET', '/v1/api-keys?page_size=100');
    return body.data.filter((key: { name: string }) => key.name === name).length;
  };

  it('creates one thing and returns the same response, secret included, to all simultaneous calls', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => make('k-1', 'hundred')));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(99);
    expect(await named('hundred')).toBe(1);
    const records = (await app.audited()).filter(({ after }) => after?.name === 'hundred');
    expect(records).toHaveLength(1);
  });

  it('refuses the key for another request, and makes nothing', async () => {
    await make('k-2', 'first');

    const other = await make('k-2', 'second');

    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    expect(await named('second')).toBe(0);
  });

  it('keeps the keys of two callers apart', async () => {
    const { key } = await app.workspaceKey();
    const first = await make('k-3', 'mine');
    const second = await make('k-3', 'mine', key);

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.body.id).not.toBe(second.body.id);
  });

  it('retries after a failure', async () => {
    const refused = await app.call('POST', PATH, {
      body: { name: 'again', workspace_id: 'ws-later', scopes: ['logs.list'] },
      headers: { 'idempotency-key': 'k-4' },
    });
    expect(refused.status).toBe(404);
    await app.anotherWorkspace('ws-later');

    const made = await app.call('POST', PATH, {
      body: { name: 'again', workspace_id: 'ws-later', scopes: ['logs.list'] },
      headers: { 'idempotency-key': 'k-4' },
    });

    expect(made.status).toBe(200);
  });

  it.each(['', 'a b', 'x'.repeat(256), 'ä'])('refuses the key %j', async (key) => {
    expect((await make(key)).body.error).toMatchObject({ code: 'header_invalid' });
  });

  it('keeps no secret in clear text, and expires after a day', async () => {
    const { body } = await make('k-5', 'sealed');
    const stored = await app.dataSource.query('SELECT sealed_answer FROM idempotent_answers');
    expect(
      JSON.stringify(
        stored.map(({ sealed_answer }: { sealed_answer: Buffer }) => sealed_answer.toString('latin1')),
      ),
    ).not.toContain(body.key);

    await app.dataSource.query("UPDATE idempotent_answers SET created_at = now() - interval '25 hours'");
    await make('k-6', 'later');
    expect((await make('k-5', 'sealed')).body.id).not.toBe(body.id);
  });
});

describe('a change with If-Match', () => {
  let app: AdminApp;
  let id: string;

  beforeAll(async () => {
    app = await AdminApp.start();
    id = (await app.workspaceKey()).id;
  });
  afterAll(() => app.close());

  const put = (name: string, match: string) =>
    app.call('PUT', `/v1/api-keys/${id}`, { body: { name }, headers: { 'if-match': match } });

  it('is made when the thing is what the client saw, and refused when it is not any more', async () => {
    const seen = String((await app.call('GET', `/v1/api-keys/${id}`)).headers['etag']);
    expect(seen).toMatch(/^"[\w-]{27}"$/);

    expect((await put('renamed', seen)).status).toBe(200);
    const late = await put('lost update', seen);

    expect([late.status, late.body.error.code]).toEqual([412, 'precondition_failed']);
    expect((await app.call('GET', `/v1/api-keys/${id}`)).body.name).toBe('renamed');
  });

  it('lets one of many who saw the same change it', async () => {
    const seen = String((await app.call('GET', `/v1/api-keys/${id}`)).headers['etag']);

    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => put(`by ${i}`, seen)));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  it('takes any state for a star, and one of several tags', async () => {
    const seen = String((await app.call('GET', `/v1/api-keys/${id}`)).headers['etag']);

    expect((await put('one of two', `"other", ${seen}`)).status).toBe(200);
    expect((await put('any', '*')).status).toBe(200);
  });

  it('is refused, and undone, where there is nothing to compare', async () => {
    const made = await app.call('POST', PATH, {
      body: { name: 'never', workspace_id: app.first.workspace_id, scopes: ['logs.list'] },
      headers: { 'if-match': '"x"' },
    });

    expect([made.status, made.body.error.code]).toEqual([400, 'header_invalid']);
    const { body } = await app.call('GET', '/v1/api-keys');
    expect(body.data.map(({ name }: { name: string }) => name)).not.toContain('never');
  });
});
