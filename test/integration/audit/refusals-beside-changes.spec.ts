import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditSeal } from '../../../src/admin/audit/audit-seal.js';
import { verifyChain } from '../../../src/admin/audit/verify-chain.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { AdminApp } from '../../support/admin-app.js';

const ROUNDS = 6;
const A_GUARDRAIL = {
  name: 'A guardrail',
  workspace_id: 'ws-default',
  checks: [{ id: 'default.contains', parameters: { operator: 'none', words: ['Apollo'] } }],
};

describe('refused attempts beside changes of one organization', () => {
  let processes: [AdminApp, AdminApp];
  let workspaceKey: string;
  beforeAll(async () => {
    const app = await AdminApp.start();
    processes = [app, await app.another()];
    workspaceKey = (await app.workspaceKey()).key;
  });
  afterAll(async () => {
    const [first, second] = processes;
    await second.close();
    await first.close();
  });

  const change = (app: AdminApp) => app.call('POST', '/v1/guardrails', { body: A_GUARDRAIL });
  const beRefused = (app: AdminApp) =>
    app.call('POST', '/v1/api-keys/organisation/service', {
      key: workspaceKey,
      body: { name: 'Not allowed', scopes: [] },
    });
  const count = <T>(times: number, make: (index: number) => T) =>
    Array.from({ length: times }, (_, index) => make(index));

  async function verified() {
    const [{ app, url, first }] = processes;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await verifyChain({ client, seal: app.get(AuditSeal), organizationId: first.organisation_id });
    } finally {
      await client.end();
    }
  }

  /** Each caller sends its next request when it has the answer to the last one. Answers the statuses, by what was sent. */
  async function callAtOnce(changing: number, refused: number) {
    const repeat = async (call: (app: AdminApp) => Promise<{ status: number }>, index: number) => {
      const statuses: number[] = [];
      for (let round = 0; round < ROUNDS; round++)
        statuses.push((await call(processes[index % 2] as AdminApp)).status);
      return statuses;
    };
    const [changes, refusals] = await Promise.all([
      Promise.all(count(changing, (index) => repeat(change, index))),
      Promise.all(count(refused, (index) => repeat(beRefused, index))),
    ]);
    return { changes: changes.flat(), refusals: refusals.flat() };
  }

  it.each([
    [4, 2],
    [6, 3],
    [16, 16],
  ])(
    'get responses and records, each once, with %i callers that change and %i that are refused over two processes',
    async (changing, refused) => {
      const [{ dataSource }] = processes;
      const { records: before } = await verified();
      const { changes, refusals } = await callAtOnce(changing, refused);

      expect(changes).toEqual(count(changing * ROUNDS, () => 200));
      expect(refusals).toEqual(count(refused * ROUNDS, () => 403));
      const records = await dataSource.query<{ outcome: string; status: number; records: number }[]>(
        'SELECT outcome, status, count(*)::integer AS records FROM audit_records WHERE seq > $1 GROUP BY 1, 2 ORDER BY 2',
        [before],
      );
      expect(records).toEqual([
        { outcome: 'success', status: 200, records: changing * ROUNDS },
        { outcome: 'refused', status: 403, records: refused * ROUNDS },
      ]);
      expect(await verified()).toEqual({
        records: before + (changing + refused) * ROUNDS,
        brokenAt: null,
        problem: null,
      });
    },
  );

  it('serves callers in the order in which they came, many more than there are connections', async () => {
    const [app] = processes;
    const order: number[] = [];
    const calls = count(60, async (index) => {
      const { status } = await (index % 3 === 0 ? beRefused(app) : change(app));
      order.push(index);
      return status;
    });

    expect(await Promise.all(calls)).toEqual(count(60, (index) => (index % 3 === 0 ? 403 : 200)));
    const displaced = order.map((index, place) => Math.abs(index - place));
    expect(Math.max(...displaced)).toBeLessThan(30);
  });
});

describe('a transaction that keeps the chain of one organization', () => {
  let app: AdminApp;
  let stuck: pg.Client;
  beforeAll(async () => {
    app = await AdminApp.start();
    await app.workspaceKey();
    stuck = new pg.Client({ connectionString: app.url });
    await stuck.connect();
  });
  afterAll(async () => {
    await stuck.end();
    await app.close();
  });

  it('holds up its own changes alone: another organization continues, from the same process', async () => {
    const { organizationId } = await app.anotherOrganization();
    const unit = app.app.get(UnitOfWork);
    const changeOther = () =>
      unit.runFor({ organizationId, isReading: false }, () =>
        unit.manager.query(
          'INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, gen_random_uuid())',
          [randomUUID(), organizationId, 'Elsewhere'],
        ),
      );
    await stuck.query('BEGIN');
    await stuck.query('SELECT 1 FROM audit_heads WHERE organization_id = $1 FOR UPDATE', [
      app.first.organisation_id,
    ]);
    let answered = 0;
    const own = Array.from({ length: 20 }, async () => {
      const { status } = await app.call('POST', '/v1/guardrails', { body: A_GUARDRAIL });
      answered++;
      return status;
    });
    await expect
      .poll(async () => {
        const [{ waiting }] = await app.dataSource.query(
          "SELECT count(*)::integer AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        return waiting;
      })
      .toBeGreaterThan(0);

    for (let time = 0; time < 20; time++) await changeOther();
    expect(answered).toBe(0);
    await stuck.query('ROLLBACK');
    expect(await Promise.all(own)).toEqual(Array.from({ length: 20 }, () => 200));
  });
});
