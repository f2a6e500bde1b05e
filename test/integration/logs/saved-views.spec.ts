import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';

let app: AdminApp;
let ada: { key: string };
let bob: { key: string };
let elsewhere: { key: string };
let strange: { key: string };

beforeAll(async () => {
  app = await AdminApp.start();
  ada = await app.workspaceKey(['logs.list']);
  bob = await app.workspaceKey(['logs.list']);
  elsewhere = await app.workspaceKey(['logs.list'], await app.anotherWorkspace('ws-two'));
  strange = await app.workspaceKey(['logs.view']);
});
afterAll(() => app.close());

const VIEW = { name: 'Errors', filter: 'status:min:400', range: '24h', columns: ['time', 'status'] };
const save = async (more: object = {}, { key } = ada) => {
  const answer = await app.call('POST', '/v1/logs/views', { key, body: { ...VIEW, ...more } });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const namesFor = async ({ key }: { key: string }, query = '') =>
  (await app.call('GET', `/v1/logs/views${query}`, { key })).body.data.map(
    ({ name }: { name: string }) => name,
  );
const change = (id: string, body: object, { key } = ada) =>
  app.call('PUT', `/v1/logs/views/${id}`, { key, body });
const remove = (id: string, { key } = ada) => app.call('DELETE', `/v1/logs/views/${id}`, { key });

describe('a saved view', () => {
  it('is kept as it was sent, and belongs to its maker', async () => {
    const view = await save({ name: 'Kept' });
    expect(view).toMatchObject({ ...VIEW, name: 'Kept', is_shared: false, is_own: true, object: 'log_view' });
    expect(await namesFor(ada)).toContain('Kept');
  });

  it('that is private is hidden from other users: neither listed, changed nor removed', async () => {
    const { id } = await save({ name: 'Private' });
    expect(await namesFor(bob)).not.toContain('Private');
    for (const answer of [await change(id, { name: 'Mine' }, bob), await remove(id, bob)])
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
  });

  it('that is shared is seen in its workspace and in no other', async () => {
    await save({ name: 'Shared', is_shared: true });
    expect(await namesFor(bob)).toContain('Shared');
    expect(await namesFor(elsewhere)).toEqual([]);
    const other = await app.call('GET', '/v1/logs/views?workspace_id=ws-two', { key: ada.key });
    expect(other.status).toBe(404);
  });

  it('that is shared is changed by its owner and by who manages the workspace', async () => {
    const { id } = await save({ name: 'Of all', is_shared: true });
    expect((await change(id, { name: 'Taken' }, bob)).body.error).toMatchObject({ code: 'forbidden' });
    expect((await change(id, { name: 'Renamed' })).body).toMatchObject({ ...VIEW, name: 'Renamed' });
    const managed = await app.call('PUT', `/v1/logs/views/${id}`, { body: { filter: '' } });
    expect(managed.body).toMatchObject({ name: 'Renamed', filter: '', is_own: false });
    expect((await app.call('DELETE', `/v1/logs/views/${id}`)).status).toBe(200);
    expect(await namesFor(ada)).not.toContain('Renamed');
  });

  it('says of one in another workspace what it says of none', async () => {
    const { id } = await save({ name: 'Here', is_shared: true });
    const [there, none] = [await remove(id, elsewhere), await remove('nonsense', elsewhere)];
    expect([there.status, none.status]).toEqual([404, 404]);
    const told = ({ body }: typeof there) => [body.error.code, body.error.message];
    expect(told(there)).toEqual(told(none));
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ filter: 'x'.repeat(4_001) }, 'filter'],
    [{ columns: ['<b>'] }, 'columns'],
    [{ columns: ['time', 'time'] }, 'columns'],
    [{ is_shared: 'yes' }, 'is_shared'],
    [{ colour: 'red' }, 'colour'],
  ])('refuses %j and names the field', async (more, field) => {
    const { status, body } = await app.call('POST', '/v1/logs/views', {
      key: ada.key,
      body: { ...VIEW, ...more },
    });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(`"${field}"`)]);
  });

  it('needs the scope that lists logs', async () => {
    for (const method of ['GET', 'POST'])
      expect(
        (
          await app.call(method, '/v1/logs/views', {
            key: strange.key,
            ...(method === 'POST' && { body: VIEW }),
          })
        ).status,
      ).toBe(403);
  });

  it('is audited by its own name, before and after', async () => {
    const { id } = await save({ name: 'Audited' });
    await change(id, { name: 'Changed' });
    await remove(id);
    const records = (await app.audited()).filter(({ target_id }) => target_id === id);
    expect(records.map(({ action }) => action)).toEqual([
      'log_views.create',
      'log_views.update',
      'log_views.delete',
    ]);
  });

  it('is refused beyond a hundred of one owner', async () => {
    const many = await app.workspaceKey(['logs.list']);
    const { id } = await save({}, many);
    await app.dataSource.query(
      `INSERT INTO log_views SELECT gen_random_uuid(), organization_id, workspace_id, owner_id, name, filter, range,
         columns, is_shared FROM log_views, generate_series(1, 99) WHERE id = $1`,
      [id],
    );
    const answer = await app.call('POST', '/v1/logs/views', { key: many.key, body: VIEW });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
  });
});
