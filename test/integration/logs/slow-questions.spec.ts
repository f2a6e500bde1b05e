import { afterAll, beforeAll, expect, it } from 'vitest';
import { LogsService } from '../../../src/admin/logs/logs.service.js';
import { AdminApp } from '../../support/admin-app.js';

let app: AdminApp;

beforeAll(async () => {
  app = await AdminApp.start();
});
afterAll(() => app.close());

it('PostgreSQL suggests alternatives to a query that takes too long, and counts nothing unnecessary', async () => {
  const lock = app.dataSource.createQueryRunner();
  await lock.startTransaction();
  await lock.query('LOCK TABLE request_logs IN ACCESS EXCLUSIVE MODE');
  const [answer, count] = await Promise.all([
    app.call('GET', '/v1/analytics/graphs/requests?total_units_min=1'),
    app.app.get(LogsService).countInTime({ organizationId: app.first.organisation_id }, []),
  ]);
  await lock.rollbackTransaction();
  await lock.release();

  expect(count).toBeNull();
  expect(answer.status).toBe(503);
  expect(answer.body.error).toMatchObject({ code: 'query_timeout', type: 'server_error' });
  expect(answer.body.error.message).toContain('shorter time');
  expect(answer.headers['x-should-retry']).toBe('false');
});
