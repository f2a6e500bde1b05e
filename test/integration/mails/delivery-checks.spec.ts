import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveryChecks } from '../../../src/adapters/delivery-checks.js';
import { AdminApp } from '../../support/admin-app.js';

let app: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start();
  await app.call('POST', '/v1/admin/users/invites', {
    body: { email: 'ada@acme.example', role: 'member', workspaces: [] },
  });
});
afterAll(() => app.close());

/** Statements that leave work undone since so many minutes, by the check that reports it. */
const UNDONE: Readonly<Record<string, (minutes: number) => string>> = {
  mails: (minutes) =>
    `INSERT INTO mails (id, organization_id, invite_id, created_at)
     SELECT gen_random_uuid(), organization_id, id, now() - interval '${minutes} minutes' FROM invites LIMIT 1`,
  'limit alerts': (minutes) =>
    `WITH counter AS (
       INSERT INTO limit_counters (key, organization_id, limit_id, measure, amount)
       SELECT 'k${minutes}', id, gen_random_uuid(), 'cost', 1 FROM organizations LIMIT 1 RETURNING key, organization_id, limit_id),
     event AS (
       INSERT INTO limit_events (counter, kind, organization_id, limit_id, spent, amount)
       SELECT key, 'exhausted', organization_id, limit_id, 1, 1 FROM counter RETURNING counter, kind, organization_id)
     SELECT 1 FROM event`,
  'log exports': (minutes) =>
    `INSERT INTO log_exports (id, organization_id, workspace_id, user_id, description, filters, requested_data, format,
       compression, status, problem, created_at)
     SELECT gen_random_uuid(), w.organization_id, w.id, gen_random_uuid(), '', '{}', '{id}', 'jsonl', 'none', 'in_progress',
       'Attempt 1 of 10 failed and will be retried.', now() - interval '${minutes} minutes' FROM workspaces w LIMIT 1`,
};
const AGE = "UPDATE limit_alerts SET created_at = now() - interval '5 minutes'";

describe.each(Object.entries(UNDONE))('the check of %s', (name, undone) => {
  const run = () =>
    deliveryChecks(app.dataSource)
      .find((check) => check.name === name)
      ?.run();

  it('is quiet about what may still succeed, and reports what was not delivered for a minute', async () => {
    await run();
    await app.dataSource.query(undone(0));
    await run();
    await app.dataSource.query(undone(5));
    if (name === 'limit alerts') await app.dataSource.query(AGE);

    await expect(run()).rejects.toThrow(/: \d+, the first since 20/);
  });
});
