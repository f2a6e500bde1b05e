import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  REFUSED_CREDENTIALS_MAX,
  RefusedCredentialWriter,
} from '../../../src/adapters/refused-credential-writer.js';
import { RecentRefusals, type RefusedRequest } from '../../../src/auth/identity/recent-refusals.js';
import { refusedCredentials } from '../../../src/auth/identity/refused-credentials.js';
import { mintApiKey } from '../../../src/common/crypto/api-key-format.js';
import type { Queryable } from '../../../src/database/queryable.js';
import { forgetRefusedCredentials } from '../../../src/jobs/retention/forget-refused-credentials.js';
import { AdminApp, type Json } from '../../support/admin-app.js';

const PATH = '/v1/audit-logs/refused-credentials';
const ADDRESS = '203.0.113.7';

let app: AdminApp;
let other: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start();
  other = await app.another();
});
afterAll(async () => {
  await other.close();
  await app.close();
});
beforeEach(async () => {
  refusedCredentials.recent.take();
  await app.dataSource.query('DELETE FROM refused_credentials');
});

const list = async (query = ''): Promise<Json> => {
  const { status, body, text } = await app.call('GET', `${PATH}${query}`);
  expect(status, text).toBe(200);
  return body;
};
const write = (): Promise<void> =>
  new RefusedCredentialWriter(refusedCredentials.recent, app.dataSource).write();
const refused = (given: Partial<RefusedRequest>): RefusedRequest => ({
  reason: 'unknown',
  address: ADDRESS,
  presented: 'gw_ws_0123456789abcdef',
  target: '/v1/models',
  key: null,
  ...given,
});
/** A process that refused these requests. */
function processWith(database: Queryable, all: readonly RefusedRequest[], at = Date.now()) {
  const recent = new RecentRefusals();
  for (const one of all) recent.add(one, at);
  return new RefusedCredentialWriter(recent, database);
}
const addresses = (net: number, count: number): RefusedRequest[] =>
  Array.from({ length: count }, (_, at) => refused({ address: `10.${net}.${at >> 8}.${at & 255}` }));

describe('a request with an ended key', () => {
  it('is listed with its address, the end of its key, the reason, the path and the key', async () => {
    const { id, key } = await app.workspaceKey();
    await app.call('DELETE', `/v1/api-keys/${id}`);
    const before = Date.now();
    for (const path of ['/v1/configs?key=secret', '/v1/configs'])
      expect((await app.call('GET', path, { key, from: ADDRESS })).status).toBe(401);
    await write();

    const { data, total, requests } = await list('?reason=revoked');
    expect([total, requests]).toEqual([1, 2]);
    expect(data).toEqual([
      {
        object: 'refused-credential',
        id: expect.any(String) as string,
        reason: 'revoked',
        address: ADDRESS,
        last_four: key.slice(-4),
        api_key_id: id,
        path: '/v1/configs',
        requests: 2,
        first_at: expect.any(String) as string,
        last_at: expect.any(String) as string,
      },
    ]);
    expect(Date.parse(data[0].first_at)).toBeGreaterThanOrEqual(before - 1);
    const [{ stored }] = await app.dataSource.query(
      'SELECT string_agg(row::text, chr(10)) AS stored FROM refused_credentials row',
    );
    expect(stored).not.toContain(key.slice(-5));
    expect(stored).not.toContain('secret');
  });

  it('is seen by its organization only; other credentials by the organization that set up the instance', async () => {
    const foreign = await app.anotherOrganization();
    const key = { id: foreign.workspaceId, organizationId: foreign.organizationId };
    const all = [refused({ reason: 'expired', key }), refused({ presented: mintApiKey('ws').reveal() })];
    await processWith(app.dataSource, all).write();

    expect((await list()).data).toMatchObject([{ reason: 'unknown', api_key_id: null }]);
    expect(
      await app.dataSource.query('SELECT organization_id, reason FROM refused_credentials ORDER BY reason'),
    ).toEqual([
      { organization_id: foreign.organizationId, reason: 'expired' },
      { organization_id: app.first.organisation_id, reason: 'unknown' },
    ]);
  });
});

describe('the number of rows', () => {
  const countOf = async (): Promise<number> => {
    const [{ count }] = await app.dataSource.query(
      "SELECT count(*)::int AS count FROM refused_credentials WHERE address <> ''",
    );
    return count;
  };

  it('is bounded while two processes write new addresses at once, and no request is lost', async () => {
    for (let round = 0; round < 4; round++) {
      const one = processWith(app.dataSource, addresses(2 * round, 600));
      const another = processWith(other.dataSource, addresses(2 * round + 1, 600));
      await Promise.all([one.write(), another.write()]);
      expect(await countOf()).toBeLessThanOrEqual(REFUSED_CREDENTIALS_MAX);
    }
    expect(await countOf()).toBe(REFUSED_CREDENTIALS_MAX);
    const { total, requests, data } = await list();
    expect([total, requests]).toEqual([REFUSED_CREDENTIALS_MAX + 1, 4 * 2 * 600]);
    expect(data).toHaveLength(50);
  });

  it('never displaces rows of ended keys by made-up ones', async () => {
    const key = { id: app.first.workspace_id, organizationId: app.first.organisation_id };
    await processWith(app.dataSource, [refused({ reason: 'expired', key })], Date.now() - 60_000).write();
    for (let net = 0; net < 4; net++) await processWith(app.dataSource, addresses(net, 500)).write();

    expect((await list('?reason=expired')).data).toMatchObject([{ address: ADDRESS, requests: 1 }]);
  });

  it('does not grow when the same requests repeat in two processes', async () => {
    const same = [refused({}), refused({}), refused({ address: '192.0.2.1' })];
    const [one, another] = [processWith(app.dataSource, same), processWith(other.dataSource, same)];
    await Promise.all([one.write(), another.write()]);
    const { data, requests } = await list();
    expect(requests).toBe(6);
    expect(data.map((row: Json) => row.requests).sort()).toEqual([2, 4]);
  });

  it('shrinks when the last request of a row is 30 days ago', async () => {
    const day = 86_400_000;
    await processWith(app.dataSource, [refused({ address: 'old' })], Date.now() - 31 * day).write();
    await processWith(app.dataSource, [refused({ address: 'new' })], Date.now() - 29 * day).write();

    expect(await forgetRefusedCredentials(app.dataSource)).toBe(1);
    expect((await list()).data).toMatchObject([{ address: 'new' }]);
  });
});

describe('while the database is unavailable', () => {
  it('requests stay in memory and are written once it is back, each once', async () => {
    let isThere = false;
    const database: Queryable = {
      query: (sql, parameters) =>
        isThere ? app.dataSource.query(sql, parameters) : Promise.reject(new Error('unavailable')),
    };
    const recent = new RecentRefusals();
    const writer = new RefusedCredentialWriter(recent, database);
    recent.add(refused({}), Date.now());
    await writer.write();
    recent.add(refused({}), Date.now());
    await writer.write();
    isThere = true;
    await writer.beforeApplicationShutdown();
    await writer.write();

    expect(await list()).toMatchObject({ total: 1, requests: 2 });
  });

  it('a write that is killed leaves the rows as they were, and its requests in memory', async () => {
    await processWith(app.dataSource, [refused({})]).write();
    const killed: Queryable = {
      query: (sql, parameters) =>
        other.dataSource.transaction(async (manager) => {
          await manager.query(sql, parameters);
          await app.dataSource.query('SELECT pg_terminate_backend($1)', [
            (await manager.query('SELECT pg_backend_pid() AS pid'))[0].pid,
          ]);
          return manager.query('SELECT 1');
        }),
    };
    const recent = new RecentRefusals();
    recent.add(refused({}), Date.now());
    await new RefusedCredentialWriter(recent, killed).write();
    expect(await list()).toMatchObject({ total: 1, requests: 1 });
    await new RefusedCredentialWriter(recent, app.dataSource).write();
    expect(await list()).toMatchObject({ total: 1, requests: 2 });
  });
});

describe('the list', () => {
  it('has pages, latest first, and names an unknown reason', async () => {
    for (let at = 0; at < 3; at++)
      await processWith(
        app.dataSource,
        [refused({ address: `192.0.2.${at}` })],
        1_700_000_000_000 + at,
      ).write();
    const page = await list('?page_size=2&current_page=1');
    expect([page.total, page.data.map((row: Json) => row.address)]).toEqual([3, ['192.0.2.0']]);
    const answer = await app.call('GET', `${PATH}?reason=tired`);
    expect([answer.status, answer.body.error.param]).toEqual([400, 'reason']);
  });
});
