import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/limits/postgres-limit-store.js';
import { VirtualKey } from '../../../src/admin/virtual-keys/virtual-key.entity.js';
import { limitAt, limitsOfRules } from '../../../src/common/limits/limit.js';
import { counterKey, periodAt } from '../../../src/common/limits/period.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { asks } from '../../support/limits.js';

const BUDGET = { credit_limit: 25, type: 'cost', periodic_reset: 'monthly' };
const RATE = { type: 'requests', unit: 'rpm', value: 60 };

describe('the status of limits', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const ok = async (method: string, path: string, body?: object, key?: string): Promise<Json> => {
    const answer = await app.call(method, path, { ...(body && { body }), key });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body;
  };
  const aVirtualKey = async (limits: object, workspace_id = app.first.workspace_id): Promise<string> => {
    const body = { name: 'Sandbox', provider: 'sandbox', workspace_id, ...limits };
    return (await ok('POST', '/v1/virtual-keys', body)).data.slug;
  };
  const aKey = (more: object = {}) =>
    ok('POST', '/v1/api-keys/workspace/service', {
      name: 'bot',
      workspace_id: app.first.workspace_id,
      scopes: ['completions.write'],
      ...more,
    });
  const listed = async (key?: string): Promise<Json[]> =>
    (await ok('GET', '/v1/limits?page_size=100', undefined, key)).data;
  const of = async (slug: string): Promise<Json> =>
    (await listed()).find((limit) => limit.applies_to.slug === slug);
  const raise = (id: string, by: unknown, key?: string) =>
    app.call('POST', `/v1/limits/${id}/raise`, { body: { by }, key });

  /** As a request does that cost so many dollars. */
  async function spend(slug: string, dollars: number): Promise<void> {
    const { organizationId, usageLimits } = await app.dataSource
      .getRepository(VirtualKey)
      .findOneByOrFail({ slug });
    const [stored] = limitsOfRules(
      { organizationId, subject: '' },
      { rate_limits: null, usage_limits: usageLimits },
    );
    if (!stored?.budget) throw new Error('it has no budget');
    const limit = limitAt(stored, Date.now());
    const key = counterKey(limit.id, periodAt(stored.budget, Date.now()), '');
    const holder = randomUUID();
    await new PostgresLimitStore(app.dataSource, holder).take([{ ...asks(limit, { first: 1 }), key }]);
    const charges = [{ counter: key, holder, amount: Math.round(dollars * 1e9), leased: 1 }];
    await app.dataSource.query('SELECT charge_limits($1)', [JSON.stringify(charges)]);
  }

  it('lists budgets and rates of keys, virtual keys and workspaces, fullest first', async () => {
    const slug = await aVirtualKey({ usage_limits: BUDGET, rate_limits: [RATE] });
    await spend(slug, 20);
    const { id } = await aKey({ usage_limits: { credit_limit: 1000, type: 'tokens' } });
    await ok('PUT', `/v1/admin/workspaces/${app.first.workspace_id}`, { usage_limits: BUDGET });
    const { data, total, is_partial } = await ok('GET', '/v1/limits');

    expect([total, is_partial]).toEqual([4, false]);
    expect(data[0]).toMatchObject({
      object: 'limit',
      applies_to: { type: 'virtual_key', slug, workspace_id: app.first.workspace_id },
      kind: 'budget',
      measure: 'cost',
      period: 'monthly',
      limit: 25,
      raised_by: 0,
      used: 20,
      remaining: 5,
      status: 'nearly_exhausted',
    });
    expect(data[0].resets_at).toMatch(/-01T00:00:00.000Z$/);
    expect(data).toContainEqual(
      expect.objectContaining({ kind: 'rate', period: 'rpm', limit: 60, used: 0, remaining: 60 }),
    );
    expect(data).toContainEqual(
      expect.objectContaining({
        applies_to: expect.objectContaining({ type: 'api_key', id, name: 'bot' }),
        measure: 'tokens',
        period: null,
        resets_at: null,
        used: 0,
      }),
    );
    expect(data.map((limit: Json) => limit.applies_to.type).sort()).toEqual([
      'api_key',
      'virtual_key',
      'virtual_key',
      'workspace',
    ]);
  });

  it('shows what is used now of rates and of concurrency', async () => {
    const slug = await aVirtualKey({ rate_limits: [RATE, { type: 'concurrency', value: 4 }] });
    const { organizationId, rateLimits } = await app.dataSource
      .getRepository(VirtualKey)
      .findOneByOrFail({ slug });
    const limits = limitsOfRules(
      { organizationId, subject: '' },
      { rate_limits: rateLimits, usage_limits: null },
    );
    const store = new PostgresLimitStore(app.dataSource, randomUUID());
    await store.take(limits.map((limit) => asks(limit, { first: limit.kind === 'slots' ? 4 : 15 })));
    const shown = (await listed()).filter((limit) => limit.applies_to.slug === slug);

    expect(shown).toMatchObject([
      { kind: 'concurrency', limit: 4, used: 4, remaining: 0, status: 'exhausted', period: null },
      { kind: 'rate', measure: 'requests', limit: 60, used: 15, remaining: 45, status: 'ok' },
    ]);
  });

  it('shows when a budget ends at its rate of use', async () => {
    const slug = await aVirtualKey({ usage_limits: { ...BUDGET, periodic_reset: null } });
    await spend(slug, 10);
    await app.dataSource.query(
      `UPDATE limit_counters SET created_at = now() - interval '2 days' WHERE limit_id = $1`,
      [(await of(slug)).id],
    );
    const limit = await of(slug);

    expect(limit.used_per_day).toBeCloseTo(5, 1);
    expect(Date.parse(limit.exhausted_at) - Date.now()).toBeGreaterThan(2.9 * 86_400_000);
    expect(Date.parse(limit.exhausted_at) - Date.now()).toBeLessThan(3.1 * 86_400_000);
  });

  it('is raised for this period, in steps, with a record of who did it, and gateways are notified', async () => {
    const slug = await aVirtualKey({ usage_limits: BUDGET });
    await spend(slug, 25);
    expect(await of(slug)).toMatchObject({ status: 'exhausted', remaining: 0, exhausted_at: null });
    const { id } = await of(slug);

    expect((await raise(id, 10)).body).toMatchObject({ limit: 35, raised_by: 10, remaining: 10 });
    expect((await raise(id, 2.5)).body).toMatchObject({ limit: 37.5, raised_by: 12.5, status: 'ok' });
    expect(await ok('GET', `/v1/virtual-keys/${slug}`)).toMatchObject({
      status: 'active',
      usage_limits: { credit_limit: 25, raised_by: 12.5, usage: 25 },
    });
    const record = (await app.audited()).at(-1);
    expect(record).toMatchObject({
      action: 'virtual_keys.update',
      path: `/v1/limits/${id}/raise`,
      before: { raised_by: 10 },
      after: { raised_by: 12.5 },
    });
    const { id: keyId } = await ok('GET', `/v1/virtual-keys/${slug}`);
    expect(app.changes.at(-1)).toEqual({ resource: 'virtual_key', id: keyId });
  });

  it('ends with its period, and is not copied', async () => {
    const slug = await aVirtualKey({ usage_limits: BUDGET });
    await raise((await of(slug)).id, 10);
    const { usageLimits } = await app.dataSource.getRepository(VirtualKey).findOneByOrFail({ slug });
    const [limit] = limitsOfRules(
      { organizationId: '', subject: '' },
      { rate_limits: null, usage_limits: usageLimits },
    );
    const nextMonth = Date.now() + 32 * 86_400_000;
    expect(limit && limitAt(limit, Date.now()).amount).toBe(35e9);
    expect(limit && limitAt(limit, nextMonth).amount).toBe(25e9);

    const copy = (await ok('POST', `/v1/virtual-keys/${slug}/duplicate`, {})).data.slug;
    expect(await of(copy)).toMatchObject({ limit: 25, raised_by: 0 });
  });

  it('refuses raises that mean nothing: no reset, no amount, a rate, too much', async () => {
    const slug = await aVirtualKey({
      usage_limits: { ...BUDGET, periodic_reset: null },
      rate_limits: [RATE],
    });
    const limits = (await listed()).filter((limit) => limit.applies_to.slug === slug);
    const budget = limits.find(({ kind }) => kind === 'budget').id;
    const rate = limits.find(({ kind }) => kind === 'rate').id;
    const monthly = (await of(await aVirtualKey({ usage_limits: BUDGET }))).id;
    expect((await raise(monthly, 8_000_000)).status).toBe(200);
    const codes = [
      await raise(budget, 5),
      await raise(monthly, 0),
      await raise(monthly, -5),
      await raise(monthly, 8_000_000),
      await raise(rate, 5),
      await raise(randomUUID(), 5),
      await raise('nonsense', 5),
    ].map(({ status }) => status);

    expect(codes).toEqual([400, 400, 400, 400, 404, 404, 404]);
  });

  it('shows and raises nothing of other workspaces and organizations, and no key raises its own', async () => {
    const elsewhere = await app.anotherWorkspace('ws-elsewhere');
    const slug = await aVirtualKey({ usage_limits: BUDGET }, elsewhere);
    const { id } = await of(slug);
    const { id: keyId, key } = await app.workspaceKey();
    await ok('PUT', `/v1/api-keys/${keyId}`, { usage_limits: BUDGET });

    expect((await listed(key)).some((limit) => limit.applies_to.slug === slug)).toBe(false);
    expect((await raise(id, 5, key)).status).toBe(404);
    const own = (await listed()).find((limit) => limit.applies_to.id === keyId);
    expect((await raise(own.id, 5, key)).status).toBe(403);
    const workspace = (await listed(key)).find((limit) => limit.applies_to.type === 'workspace');
    expect((await raise(workspace.id, 5, key)).status).toBe(403);
  });

  it('lists only kinds that the caller may list', async () => {
    await aVirtualKey({ usage_limits: BUDGET });
    const { key } = await app.workspaceKey(['workspace_service_api_keys.list']);

    expect(new Set((await listed(key)).map((limit) => limit.applies_to.type))).toEqual(new Set(['api_key']));
  });
});
