import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AdminApp } from '../../support/admin-app.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn } from '../../support/usage-store.js';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR;
/**
 * The transaction's beginning and end, the state of the rollups, two periods, three lists of the costliest, failing providers, and the names
 * of the costliest keys.
 */
const ROUND_TRIPS = 10;
/** The costliest users of one model are read from request rows, which needs the retention rules, for the range and for the rows. */
const OF_ROWS = 2;

let app: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start();
  const records = Array.from({ length: 20 }, (_, at) =>
    aRecord({
      created_at: NOW - (at + 1) * HOUR,
      organisation_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
    }),
  );
  const aggregator = aggregatorOn(app.dataSource, null);
  for (const batch of await storeRecords(app.url, records)) await aggregator.aggregate(batch);
});
afterAll(() => app.close());

/** How often a request waits for the database of the log. */
async function roundTripsOf(path: string): Promise<number> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const { status, text } = await app.call('GET', path);
    expect(status, text).toBe(200);
    return query.mock.contexts.filter(
      (client) =>
        (client as pg.Client & { connectionParameters: { application_name: string } }).connectionParameters
          .application_name === 'gatehouse-logs',
    ).length;
  } finally {
    query.mockRestore();
  }
}

it.each([
  ['an organization', {}, ROUND_TRIPS],
  ['a workspace', { workspace_slug: 'ws-default' }, ROUND_TRIPS],
  ['a workspace, of one model', { workspace_slug: 'ws-default', ai_model: 'gpt-5' }, ROUND_TRIPS + OF_ROWS],
])('the overview of %s, %j, waits for the database at most %i times', async (_, query, most) => {
  const range = {
    time_of_generation_min: new Date(NOW - 24 * HOUR).toISOString(),
    time_of_generation_max: new Date(NOW).toISOString(),
  };
  const path = `/v1/analytics/overview?${new URLSearchParams({ ...range, ...query }).toString()}`;
  const trips = await roundTripsOf(path);

  expect(trips).toBeGreaterThan(1);
  expect(trips).toBeLessThanOrEqual(most);
});
