import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp, type Json } from '../../support/admin-app.js';

describe('the audit record of a request', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const latest = async (query = ''): Promise<Json> =>
    (await app.call('GET', `/v1/audit-logs?page_size=1${query}`)).body.records[0];
  const verified = async (): Promise<Json> => (await app.call('GET', '/v1/audit-logs/verify')).body;

  it('has the query, with the values of unknown parameters masked', async () => {
    const { workspace_id } = app.first;
    await app.call('DELETE', `/v1/admin/workspaces/${workspace_id}?name=zzz&secret=abc`);

    const { query_params, response_status_code } = await latest();
    expect(response_status_code).toBe(400);
    expect(JSON.parse(query_params)).toEqual({ name: 'zzz', secret: '***' });
  });

  it('has headers of a fixed list, none of which is a credential', async () => {
    await app.call('POST', '/v1/virtual-keys', {
      body: { name: 'A key', provider: 'sandbox', workspace_id: app.first.workspace_id },
      headers: { 'user-agent': 'curl/8.5.0', 'idempotency-key': randomUUID(), 'x-other': 'x', cookie: 'a=b' },
    });

    const headers = JSON.parse((await latest()).request_headers);
    expect(headers).toMatchObject({ 'user-agent': 'curl/8.5.0', 'content-type': 'application/json' });
    expect(Object.keys(headers)).not.toContain('x-gateway-api-key');
    expect(Object.keys(headers)).not.toContain('x-other');
    expect(Object.keys(headers)).not.toContain('cookie');
  });

  it('masks a gateway key in a query or header', async () => {
    await app.call(
      'DELETE',
      `/v1/admin/workspaces/${app.first.workspace_id}?name=${app.first.admin_api_key}`,
      {
        headers: {
          'user-agent': `agent ${app.first.admin_api_key}`,
          origin: `http://a/${app.first.admin_api_key}`,
        },
      },
    );

    const [record] = (await app.audited()).slice(-1);
    expect(JSON.stringify(record)).not.toContain(app.first.admin_api_key);
  });

  it('is covered by the chain with its query: one that was changed or removed is found', async () => {
    expect(await verified()).toMatchObject({ problem: null });
    await app.dataSource.query('ALTER TABLE audit_records DISABLE TRIGGER ALL');
    const [{ seq, query_params: before }] = await app.dataSource.query<Json[]>(
      'SELECT seq, query_params FROM audit_records WHERE query_params IS NOT NULL ORDER BY seq LIMIT 1',
    );
    const set = 'UPDATE audit_records SET query_params = $1 WHERE seq = $2';
    for (const forged of [null, { name: 'other' }]) {
      await app.dataSource.query(set, [forged, seq]);
      expect(await verified()).toMatchObject({ broken_at: Number(seq), problem: 'changed' });
    }
    await app.dataSource.query(set, [before, seq]);
    await app.dataSource.query('ALTER TABLE audit_records ENABLE TRIGGER ALL');
    expect(await verified()).toMatchObject({ problem: null });
  });

  it.each([
    ['feedback', 'create'],
    ['invites', 'create'],
    ['invites', 'resend'],
    ['invites', 'cancel'],
    ['invites', 'accept'],
    ['virtual_keys', 'test'],
  ])('has the resource type "%s" and the action "%s", which filters find', async (type, action) => {
    await act(type, action);

    const record = await latest(`&resource_type=${type}&action=${action}`);
    expect(record).toMatchObject({ resource_type: type, action, outcome: 'success' });
  });

  it('has the same type and action for an attempt that was refused for its scope', async () => {
    const { key } = await app.workspaceKey(['logs.list']);
    await app.call('POST', '/v1/feedback', { key, body: { trace_id: 't', value: 1 } });

    expect(await latest()).toMatchObject({ resource_type: 'feedback', action: 'create', outcome: 'refused' });
  });

  async function act(type: string, action: string): Promise<void> {
    if (type === 'feedback') {
      const { key } = await app.workspaceKey(['logs.write']);
      await app.call('POST', '/v1/feedback', { key, body: { trace_id: 't', value: 1 } });
      return;
    }
    if (action === 'test') {
      const body = { provider: 'sandbox', key: 'any', workspace_id: app.first.workspace_id };
      await app.call('POST', '/v1/virtual-keys/test', { body });
      return;
    }
    if (action === 'accept') {
      await app.aPerson();
      return;
    }
    const body = { email: `${randomUUID()}@example.com`, role: 'member', workspaces: [] };
    const { id } = (await app.call('POST', '/v1/admin/users/invites', { body })).body;
    if (action === 'resend') await app.call('POST', `/v1/admin/users/invites/${id}/resend`);
    if (action === 'cancel') await app.call('DELETE', `/v1/admin/users/invites/${id}`);
  }
});
