import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/limits/postgres-limit-store.js';
import { ApiKey } from '../../../src/admin/api-keys/api-key.entity.js';
import { limitsOfRules } from '../../../src/common/limits/limit.js';
import { counterKey, periodAt } from '../../../src/common/limits/period.js';
import { AdminApp } from '../../support/admin-app.js';
import { asks } from '../../support/limits.js';

const RATE = { type: 'requests', unit: 'rpm', value: 60 };
const BUDGET = { credit_limit: 10.5, type: 'cost', alert_threshold: 8, periodic_reset: 'monthly' };

describe('limits of keys', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const aKey = (more: object) =>
    app.call('POST', '/v1/api-keys/workspace/service', {
      body: { name: 'k', workspace_id: app.first.workspace_id, scopes: ['completions.write'], ...more },
    });
  const shown = async (id: string) => (await app.call('GET', `/v1/api-keys/${id}`)).body;
  const change = (id: string, body: object) => app.call('PUT', `/v1/api-keys/${id}`, { body });
  const rowOf = (id: string) => app.dataSource.getRepository(ApiKey).findOneByOrFail({ id });

  /** As a request does that cost so many nano-dollars. */
  async function spend(id: string, nano: number): Promise<void> {
    const { organizationId, usageLimits } = await rowOf(id);
    const [limit] = limitsOfRules(
      { organizationId, subject: '' },
      { rate_limits: null, usage_limits: usageLimits },
    );
    if (!limit?.budget) throw new Error('the key has no budget');
    const key = counterKey(limit.id, periodAt(limit.budget, Date.now()), '');
    const holder = randomUUID();
    await new PostgresLimitStore(app.dataSource, holder).take([{ ...asks(limit, { first: 1 }), key }]);
    const charges = [{ counter: key, holder, amount: nano, leased: 1 }];
    await app.dataSource.query('SELECT charge_limits($1)', [JSON.stringify(charges)]);
  }

  it.each([
    ['an object', RATE, BUDGET],
    ['a list with one entry', [RATE], [BUDGET]],
  ])('are taken as %s and shown as the compatible API does', async (_how, rate_limits, usage_limits) => {
    const { body, status } = await aKey({ rate_limits, usage_limits });

    expect(status).toBe(200);
    expect(await shown(body.id)).toMatchObject({
      status: 'active',
      rate_limits: [RATE],
      usage_limits: { ...BUDGET, periodic_reset_days: null, usage: 0 },
    });
    expect((await shown(body.id)).usage_limits.next_usage_reset_at).toMatch(/-01T00:00:00\.000Z$/);
  });

  it('may be several', async () => {
    const rate_limits = [RATE, { ...RATE, unit: 'rps' }, { type: 'concurrency', value: 5 }];
    const usage_limits = [BUDGET, { credit_limit: 1000, type: 'tokens', periodic_reset_days: 3 }];
    const { body } = await aKey({ rate_limits, usage_limits });

    const key = await shown(body.id);

    expect(key.rate_limits).toEqual([
      { ...RATE, on_store_failure: 'open' },
      { ...RATE, unit: 'rps', on_store_failure: 'open' },
      { type: 'concurrency', unit: null, value: 5, on_store_failure: 'open' },
    ]);
    expect(key.usage_limits).toMatchObject([{ type: 'cost' }, { type: 'tokens', periodic_reset_days: 3 }]);
  });

  it.each([
    ['API keys', 'POST', (): string => '/v1/api-keys/workspace/service', { scopes: ['completions.write'] }],
    ['virtual keys', 'POST', (): string => '/v1/virtual-keys', { provider: 'openai', key: 'sk-1' }],
    ['workspaces', 'PUT', (): string => `/v1/admin/workspaces/${app.first.workspace_id}`, {}],
  ] as const)(
    'of %s may refuse requests while their store is unavailable',
    async (_what, method, path, fields) => {
      const rates = [
        { ...RATE, on_store_failure: 'closed' },
        { type: 'concurrency', value: 5 },
      ];
      const body = { name: `closed ${randomUUID()}`, rate_limits: rates, ...fields };
      const made = await app.call(method, path(), {
        body: method === 'POST' ? { ...body, workspace_id: app.first.workspace_id } : body,
      });
      expect(made.status).toBe(200);
      const at = path().replace('/workspace/service', '');
      const { id, data } = made.body as { id: string; data?: { slug: string } };
      const name = data?.slug ?? id;

      const read = await app.call('GET', method === 'PUT' ? at : `${at}/${name}`);

      expect(read.body.rate_limits).toMatchObject([
        { ...RATE, on_store_failure: 'closed' },
        { type: 'concurrency', on_store_failure: 'open' },
      ]);
    },
  );

  it('count rates from zero after a reset, and running requests as before', async () => {
    const { body } = await aKey({ rate_limits: [RATE, { type: 'concurrency', value: 5 }] });
    const before = (await rowOf(body.id)).rateLimits ?? [];

    expect((await change(body.id, { reset_usage: true })).status).toBe(200);

    const after = (await rowOf(body.id)).rateLimits ?? [];
    expect(after).toMatchObject(before.map(({ type, unit, value }) => ({ type, unit, value })));
    expect(after[0]?.id).not.toBe(before[0]?.id);
    expect(after[1]?.id).toBe(before[1]?.id);
  });

  it('are removed with null and stay when they are not named', async () => {
    const { body } = await aKey({ rate_limits: RATE, usage_limits: BUDGET });

    await change(body.id, { name: 'renamed', rate_limits: null });

    expect(await shown(body.id)).toMatchObject({ rate_limits: null, usage_limits: BUDGET });
  });

  it.each([
    [{ rate_limits: { type: 'requests', unit: 'rpx', value: 1 } }, 'unit'],
    [{ rate_limits: { type: 'requests', value: 1 } }, 'unit'],
    [{ rate_limits: { type: 'concurrency', unit: 'rpm', value: 1 } }, 'unit'],
    [{ rate_limits: { ...RATE, value: -1 } }, 'value'],
    [{ rate_limits: { ...RATE, value: 1.5 } }, 'value'],
    [{ rate_limits: { ...RATE, value: '5' } }, 'value'],
    [{ rate_limits: { ...RATE, burst: 5 } }, 'burst'],
    [{ rate_limits: { ...RATE, on_store_failure: 'ajar' } }, 'on_store_failure'],
    [{ rate_limits: { ...RATE, on_store_failure: null } }, 'on_store_failure'],
    [{ usage_limits: { credit_limit: 5, on_store_failure: 'open' } }, 'on_store_failure'],
    [{ rate_limits: 'many' }, 'rate_limits'],
    [{ rate_limits: [RATE, RATE] }, 'rate_limits'],
    [{ rate_limits: Array.from({ length: 11 }, () => RATE) }, 'rate_limits'],
    [{ usage_limits: { credit_limit: 0 } }, 'credit_limit'],
    [{ usage_limits: { credit_limit: -5 } }, 'credit_limit'],
    [{ usage_limits: { credit_limit: 1e30 } }, 'credit_limit'],
    [{ usage_limits: { credit_limit: 1e-10 } }, 'credit_limit'],
    [{ usage_limits: { credit_limit: '10' } }, 'credit_limit'],
    [{ usage_limits: { credit_limit: 1.5, type: 'tokens' } }, 'credit_limit'],
    [{ usage_limits: { credit_limit: 5, alert_threshold: 5 } }, 'alert_threshold'],
    [{ usage_limits: { credit_limit: 5, periodic_reset: 'daily' } }, 'periodic_reset'],
    [{ usage_limits: { credit_limit: 5, periodic_reset_days: 366 } }, 'periodic_reset_days'],
    [
      { usage_limits: { credit_limit: 5, periodic_reset_days: 3, periodic_reset: 'weekly' } },
      'periodic_reset_days',
    ],
    [
      { usage_limits: { credit_limit: 5, next_usage_reset_at: '2100-01-01T00:00:00Z' } },
      'next_usage_reset_at',
    ],
    [{ usage_limits: { credit_limit: 5, spent: 0 } }, 'spent'],
    [{ usage_limits: { credit_limit: 5, amount: 1 } }, 'amount'],
  ])('refuses %j and names the field', async (more, field) => {
    const { status, body } = await aKey(more);

    expect(status).toBe(400);
    expect(body.error.message).toContain(field);
  });

  it('show what was used, exactly, and when it is all', async () => {
    const { body } = await aKey({ usage_limits: BUDGET });
    await spend(body.id, 1_234_567_891);
    expect(await shown(body.id)).toMatchObject({ status: 'active', usage_limits: { usage: 1.234567891 } });

    await spend(body.id, 9_265_432_109);

    expect(await shown(body.id)).toMatchObject({ status: 'exhausted', usage_limits: { usage: 10.5 } });
    const { data } = (await app.call('GET', '/v1/api-keys?page_size=100')).body;
    expect(data.find((key: { id: string }) => key.id === body.id)).toMatchObject({ status: 'exhausted' });
  });

  it('notify once of a threshold and once of the end', async () => {
    const { body } = await aKey({ usage_limits: BUDGET });
    const [rule] = (await rowOf(body.id)).usageLimits ?? [];
    for (const nano of [8_000_000_000, 1, 1, 2_499_999_998, 1]) await spend(body.id, nano);

    expect(
      await app.dataSource.query('SELECT kind, spent FROM limit_events WHERE limit_id = $1 ORDER BY spent', [
        rule?.id,
      ]),
    ).toEqual([
      { kind: 'threshold', spent: '8000000000' },
      { kind: 'exhausted', spent: '10500000000' },
    ]);
  });

  it('begin at nothing after a reset, and keep their use when they are raised', async () => {
    const { body } = await aKey({ usage_limits: BUDGET });
    await spend(body.id, 10_500_000_000);

    await change(body.id, { usage_limits: { ...BUDGET, credit_limit: 20 } });
    expect(await shown(body.id)).toMatchObject({
      status: 'active',
      usage_limits: { usage: 10.5, credit_limit: 20 },
    });
    expect((await change(body.id, { reset_usage: true })).status).toBe(200);

    expect(await shown(body.id)).toMatchObject({ status: 'active', usage_limits: { usage: 0 } });
    await spend(body.id, 5);
    expect(await shown(body.id)).toMatchObject({ usage_limits: { usage: 0.000000005 } });
  });

  it.each([
    ['said again', (rules: object[]) => rules],
    ['said in another order', (rules: object[]) => [...rules].reverse()],
    ['raised', (rules: object[]) => rules.map((rule) => ({ ...rule, credit_limit: 500 }))],
  ])('keep each its own counter when several are %s', async (_how, again) => {
    const budgets = [
      { credit_limit: 10, periodic_reset_days: 7 },
      { credit_limit: 100, periodic_reset_days: 30 },
      { credit_limit: 1000, type: 'tokens' },
    ];
    const { body } = await aKey({ usage_limits: budgets });
    const counters = async () =>
      new Map((await rowOf(body.id)).usageLimits?.map((rule) => [rule.periodic_reset_days, rule.id]));
    const before = await counters();

    expect((await change(body.id, { usage_limits: again(budgets) })).status).toBe(200);

    expect(await counters()).toEqual(before);
  });

  it('never share a counter, also where both take the place of one', async () => {
    const { body } = await aKey({ usage_limits: BUDGET });
    await spend(body.id, 1_000_000_000);

    await change(body.id, {
      usage_limits: [
        { credit_limit: 10, periodic_reset_days: 7 },
        { credit_limit: 100, periodic_reset_days: 30 },
      ],
    });

    const ids = (await rowOf(body.id)).usageLimits?.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  it('cannot be changed by the key that they limit', async () => {
    const scopes = ['workspace_service_api_keys.update', 'completions.write'];
    const { id, key } = (await aKey({ scopes, usage_limits: BUDGET })).body;

    for (const body of [
      { usage_limits: null },
      { rate_limits: null },
      { reset_usage: true },
      { expires_at: null },
      { expires_at: '2099-01-01T00:00:00Z' },
    ])
      expect(await app.call('PUT', `/v1/api-keys/${id}`, { key, body })).toMatchObject({ status: 403 });
    expect(await app.call('PUT', `/v1/api-keys/${id}`, { key, body: { name: 'mine' } })).toMatchObject({
      status: 200,
    });
  });

  it('belong to workspaces too, as lists', async () => {
    const { body } = await app.call('POST', '/v1/admin/workspaces', {
      body: { name: 'Limited', rate_limits: RATE, usage_limits: [BUDGET] },
    });
    const path = `/v1/admin/workspaces/${body.id}`;
    expect((await app.call('GET', path)).body).toMatchObject({
      rate_limits: [RATE],
      usage_limits: [{ ...BUDGET, usage: 0 }],
    });

    expect(await app.call('PUT', path, { body: { usage_limits: null } })).toMatchObject({ status: 200 });
    expect((await app.call('GET', path)).body).toMatchObject({ rate_limits: [RATE], usage_limits: null });
    expect(app.changes).toContainEqual({ resource: 'workspace', id: body.id });
  });

  it('belong to virtual keys too', async () => {
    const body = { name: 'limited', provider: 'openai', key: 'sk-x', workspace_id: app.first.workspace_id };
    const made = await app.call('POST', '/v1/virtual-keys', {
      body: { ...body, usage_limits: BUDGET, rate_limits: RATE },
    });
    const path = `/v1/virtual-keys/${made.body.data.slug}`;

    expect((await app.call('GET', path)).body).toMatchObject({
      status: 'active',
      rate_limits: [RATE],
      usage_limits: { ...BUDGET, usage: 0 },
    });
    await app.call('PUT', path, { body: { rate_limits: [], usage_limits: null } });
    expect((await app.call('GET', path)).body).toMatchObject({ rate_limits: null, usage_limits: null });
  });
});

describe('policies', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  const USAGE = '/v1/policies/usage-limits';
  const RATES = '/v1/policies/rate-limits';
  const SCOPE = { conditions: [{ key: 'metadata.team', value: '*' }], group_by: [{ key: 'metadata._user' }] };
  const make = (path: string, more: object) =>
    app.call('POST', path, { body: { name: 'p', workspace_id: app.first.workspace_id, ...SCOPE, ...more } });

  it('are made, shown, listed, changed and archived', async () => {
    const { body } = await make(USAGE, BUDGET);
    expect((await app.call('GET', `${USAGE}/${body.id}`)).body).toMatchObject({
      ...SCOPE,
      ...BUDGET,
      status: 'active',
    });
    expect(await app.call('GET', `${RATES}/${body.id}`)).toMatchObject({ status: 404 });

    await app.call('PUT', `${USAGE}/${body.id}`, { body: { credit_limit: 99, periodic_reset: null } });
    expect((await app.call('GET', USAGE)).body.data).toMatchObject([
      { id: body.id, credit_limit: 99, alert_threshold: 8, periodic_reset: null, next_usage_reset_at: null },
    ]);
    expect(await app.call('DELETE', `${USAGE}/${body.id}`)).toMatchObject({ status: 200, body: {} });

    expect((await app.call('GET', USAGE)).body.total).toBe(0);
    expect((await app.call('GET', `${USAGE}?status=archived`)).body.data).toMatchObject([
      { status: 'archived' },
    ]);
  });

  it('of rates have their own', async () => {
    const { body } = await make(RATES, RATE);
    await app.call('PUT', `${RATES}/${body.id}`, { body: { on_store_failure: 'closed' } });
    await app.call('PUT', `${RATES}/${body.id}`, { body: { value: 5 } });

    expect((await app.call('GET', `${RATES}/${body.id}`)).body).toMatchObject({
      ...SCOPE,
      ...RATE,
      value: 5,
      on_store_failure: 'closed',
    });
  });

  it.each([
    [USAGE, { conditions: [] }],
    [USAGE, { conditions: [{ key: 'nothing', value: 'a' }] }],
    [USAGE, { conditions: [{ key: 'model', value: [] }] }],
    [USAGE, { group_by: [] }],
    [USAGE, { group_by: [{ key: 'metadata.' }] }],
    [USAGE, { type: 'requests' }],
    [USAGE, { conditions: [[]] }],
    [USAGE, { conditions: [[{ key: 'model', value: 'gpt-4o' }]] }],
    [RATES, { group_by: [[]] }],
    [RATES, { unit: 'rpy' }],
    [RATES, { value: -1 }],
  ])('at %s refuse %j', async (path, more) => {
    expect(await make(path, { ...(path === USAGE ? BUDGET : RATE), ...more })).toMatchObject({ status: 400 });
  });

  it.each([
    [USAGE, { name: null }],
    [USAGE, { conditions: null }],
    [USAGE, { credit_limit: null }],
    [RATES, { name: null }],
    [RATES, { conditions: null }],
    [RATES, { value: null }],
  ])('at %s refuse the change %j, which would leave them without it', async (path, change) => {
    const { body } = await make(path, path === USAGE ? BUDGET : RATE);

    expect(await app.call('PUT', `${path}/${body.id}`, { body: change })).toMatchObject({ status: 400 });
    expect((await app.call('GET', `${path}/${body.id}`)).body).toMatchObject({ name: 'p', ...SCOPE });
  });

  it('are listed by type and unit', async () => {
    const named = async (path: string, query: string) =>
      (await app.call('GET', `${path}?${query}`)).body.data.map(({ name }: { name: string }) => name);
    await make(USAGE, { name: 'dollars', credit_limit: 5 });
    await make(USAGE, { name: 'tokens', credit_limit: 500, type: 'tokens' });
    await make(RATES, { name: 'day', ...RATE, unit: 'rpd' });
    await make(RATES, { name: 'day of tokens', type: 'tokens', unit: 'rpd', value: 5 });

    expect(await named(USAGE, 'type=tokens')).toEqual(['tokens']);
    expect(await named(USAGE, 'type=cost')).toContain('dollars');
    expect(await named(USAGE, 'type=cost')).not.toContain('tokens');
    expect(await named(RATES, 'unit=rpd')).toEqual(['day of tokens', 'day']);
    expect(await named(RATES, 'unit=rpd&type=tokens')).toEqual(['day of tokens']);
    expect(await named(RATES, 'type=tokens&status=archived')).toEqual([]);
    for (const wrong of [`${USAGE}?type=requests`, `${RATES}?unit=rpy`])
      expect(await app.call('GET', wrong)).toMatchObject({ status: 400 });
  });

  it('keep a change that is made while a group is set back', async () => {
    const { body } = await make(USAGE, BUDGET);
    const [row] = await app.dataSource.query('SELECT budget FROM limit_policies WHERE id = $1', [body.id]);
    const [limit] = limitsOfRules(
      { organizationId: app.first.organisation_id, subject: '' },
      { rate_limits: null, usage_limits: [row.budget] },
    );
    if (!limit) throw new Error('the policy has no limit');
    const key = counterKey(limit.id, periodAt(row.budget, Date.now()), 'c'.repeat(32));
    const store = new PostgresLimitStore(app.dataSource, randomUUID());
    await store.take([{ ...asks(limit), key, group: 'metadata._user:cid' }]);
    const holder = app.dataSource.createQueryRunner();
    await holder.startTransaction();
    await holder.query('SELECT FROM limit_counters WHERE key = $1 FOR UPDATE', [key]);

    const reset = app.call('PUT', `${USAGE}/${body.id}/entities/cid/reset`);
    await expect
      .poll(() =>
        app.dataSource.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
      )
      .toHaveLength(1);
    const change = app.call('PUT', `${USAGE}/${body.id}`, { body: { name: 'renamed meanwhile' } });
    await Promise.race([change, setTimeout(300)]);
    await holder.rollbackTransaction();
    await holder.release();

    expect([await reset, await change]).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect((await app.call('GET', `${USAGE}/${body.id}`)).body).toMatchObject({ name: 'renamed meanwhile' });
  });

  it('show what each group used, and set one back', async () => {
    const { body } = await make(USAGE, BUDGET);
    const [row] = await app.dataSource.query('SELECT budget FROM limit_policies WHERE id = $1', [body.id]);
    const [limit] = limitsOfRules(
      { organizationId: app.first.organisation_id, subject: '' },
      { rate_limits: null, usage_limits: [row.budget] },
    );
    if (!limit) throw new Error('the policy has no limit');
    const store = new PostgresLimitStore(app.dataSource, randomUUID());
    for (const [group, text] of [
      ['a'.repeat(32), 'metadata._user:ann'],
      ['b'.repeat(32), 'metadata._user:bob'],
    ] as const) {
      const key = counterKey(limit.id, periodAt(row.budget, Date.now()), group);
      await store.take([{ ...asks(limit), key, group: text }]);
      const charges = [{ counter: key, holder: store.holder, amount: 5_000_000_000, leased: 1 }];
      await app.dataSource.query('SELECT charge_limits($1)', [JSON.stringify(charges)]);
    }
    const entities = async (query = '') =>
      (await app.call('GET', `${USAGE}/${body.id}/entities${query}`)).body;
    expect(await entities()).toMatchObject({ total: 2, data: [{ current_usage: 5 }, { current_usage: 5 }] });
    expect(await entities('?search=ann')).toMatchObject({
      total: 1,
      data: [{ id: 'a'.repeat(32), value_key: 'metadata._user:ann' }],
    });

    expect(await entities('?current_page=9')).toMatchObject({ total: 2, data: [] });

    expect(await app.call('PUT', `${USAGE}/${body.id}/entities/${'a'.repeat(32)}/reset`)).toMatchObject({
      status: 200,
    });
    await app.call('PUT', `${USAGE}/${body.id}`, { body: { reset_usage_for_value: 'bob' } });

    expect((await entities()).data.map((each: { current_usage: number }) => each.current_usage)).toEqual([
      0, 0,
    ]);
    for (const none of ['nobody', '%00'])
      expect(await app.call('PUT', `${USAGE}/${body.id}/entities/${none}/reset`)).toMatchObject({
        status: 404,
      });
    expect(await app.call('GET', `${USAGE}/${body.id}/entities?search=%00`)).toMatchObject({ status: 400 });
  });
});
