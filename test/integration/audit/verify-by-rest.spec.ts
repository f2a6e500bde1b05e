import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp, type Json } from '../../support/admin-app.js';

describe('the check of the audit log by REST', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
    for (const name of ['one', 'two', 'three'])
      await app.call('POST', '/v1/virtual-keys', {
        body: { name, provider: 'sandbox', workspace_id: app.first.workspace_id },
      });
  });
  afterAll(() => app.close());

  const verify = async (query = ''): Promise<Json> =>
    (await app.call('GET', `/v1/audit-logs/verify${query}`)).body;

  it('finds every record as it was written, and leaves none itself', async () => {
    const before = (await app.audited()).length;
    const report = await verify();

    expect(report).toMatchObject({
      total: before,
      verified_up_to: before,
      next_after: null,
      broken_at: null,
      problem: null,
    });
    expect(await app.audited()).toHaveLength(before);
  });

  it('continues after a record that was checked, and refuses an invalid number', async () => {
    const { total } = await verify();

    expect(await verify('?after=1')).toMatchObject({ verified_up_to: total, problem: null });
    for (const after of ['-1', 'x', '1.5'])
      expect((await app.call('GET', `/v1/audit-logs/verify?after=${after}`)).status).toBe(400);
  });

  it('names the first record that was changed', async () => {
    await app.dataSource.query('ALTER TABLE audit_records DISABLE TRIGGER ALL');
    await app.dataSource.query("UPDATE audit_records SET actor_name = 'Somebody else' WHERE seq = 2");

    expect(await verify()).toMatchObject({
      broken_at: 2,
      problem: 'changed',
      verified_up_to: 1,
      next_after: null,
    });
  });
});
