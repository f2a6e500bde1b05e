import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { AdminApp } from '../../support/admin-app.js';
import { storeBatch } from '../../support/stored-batches.js';
import { aggregatorOn } from '../../support/usage-store.js';

let app: AdminApp;
let reader: string;
/** Of a key that was revoked after its request. */
let revoked: { id: string; name: string; log: string };
/** Of a key without a row, as after a restored backup. */
let unknown: { id: string; log: string };

beforeAll(async () => {
  app = await AdminApp.start();
  reader = (await app.workspaceKey(['logs.list', 'logs.view', 'analytics.view'])).key;
  const { organisation_id, workspace_id } = app.first;
  const { id } = await app.workspaceKey(['completions.write']);
  const { body } = await app.call('GET', `/v1/api-keys/${id}`);
  revoked = { id, name: body.name, log: uuidV7(Date.now()) };
  unknown = { id: uuidV7(Date.now()), log: uuidV7(Date.now()) };
  const batch = await storeBatch(
    app.dataSource,
    [revoked, unknown].map((key) => ({ organisation_id, workspace_id, api_key_id: key.id, id: key.log })),
  );
  await aggregatorOn(app.dataSource, null).aggregate(batch);
  expect((await app.call('DELETE', `/v1/api-keys/${id}`)).status).toBe(200);
});
afterAll(() => app.close());

const read = async (path: string) => (await app.call('GET', path, { key: reader })).body;

describe('the name of an API key that was revoked', () => {
  it('stays in the list of its requests and in each request', async () => {
    const { data } = await read('/v1/logs');
    const named = data.map(({ id, api_key_name }: { id: string; api_key_name: string }) => [
      id,
      api_key_name,
    ]);
    expect(new Map(named)).toEqual(
      new Map<string, string | null>([
        [revoked.log, revoked.name],
        [unknown.log, null],
      ]),
    );
    expect(await read(`/v1/logs/${revoked.log}`)).toMatchObject({ api_key_name: revoked.name });
    expect(await read(`/v1/logs/${unknown.log}`)).toMatchObject({ api_key_name: null });
  });

  it('stays in analytics: the overview, the groups and the values of a filter', async () => {
    const range = `time_of_generation_min=${new Date(Date.now() - 3_600_000).toISOString()}`;
    const names = [
      [revoked.id, revoked.name],
      [unknown.id, null],
    ].sort();
    const overview = await read(`/v1/analytics/overview?${range}`);
    const facet = await read(`/v1/analytics/facets/api_key_id?${range}`);
    const groups = await read(`/v1/analytics/groups/api_key?${range}`);
    const named = ({ value, name }: { value: string; name: string | null }) => [value, name];
    expect(overview.top_api_keys.map(named).sort()).toEqual(names);
    expect(facet.data.map(named).sort()).toEqual(names);
    const ofGroup = ({ api_key, api_key_name }: { api_key: string; api_key_name: string | null }) => [
      api_key,
      api_key_name,
    ];
    expect(groups.data.map(ofGroup).sort()).toEqual(names);
  });
});
