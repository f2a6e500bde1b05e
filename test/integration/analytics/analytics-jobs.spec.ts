import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { AnalyticsLeases } from '../../../src/jobs/analytics/analytics-leases.js';
import { SweepAnalyticsJobs } from '../../../src/jobs/analytics/sweep-analytics-jobs.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { type Counting, groupCounter, startCounting } from '../../support/analytics-jobs.js';
import { compileSource } from '../../support/compiled-source.js';
import { storeBatch, type StoredRequest } from '../../support/stored-batches.js';
import { aggregatorOn } from '../../support/usage-store.js';
import { eventually } from '../../support/waiting.js';

const DAY = 86_400_000;
const FIRST = Date.parse('2026-10-01T09:30:00Z');
const DAYS = 4;
const COUNT = 900;
const NANO_PER_CENT = 10_000_000;
const TEAMS = ['search', 'ads', 'risk', undefined] as const;

let app: AdminApp;
/** Another process, which answers everything directly. */
let direct: AdminApp;
let rows: (StoredRequest & { readonly created_at: Date })[];
let workspaceTwo: string;
let member: { id: string; key: string };

beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_ANALYTICS_DIRECT_ROWS: '100' }, null);
  direct = await app.another({ analyticsDirectRows: 1e9 });
  workspaceTwo = await app.anotherWorkspace('ws-two');
  member = await userKey();
  rows = Array.from({ length: COUNT }, (_, at) => rowAt(at));
  const elsewhere = await app.anotherOrganization();
  const foreign = {
    ...rowAt(1),
    id: randomUUID(),
    organisation_id: elsewhere.organizationId,
    workspace_id: elsewhere.workspaceId,
  };
  const aggregator = aggregatorOn(app.dataSource, null);
  await aggregator.aggregate(await storeBatch(app.dataSource, [...rows, foreign]));
  await app.dataSource.query(
    `INSERT INTO feedback (id, organization_id, workspace_id, trace_id, value, weight) VALUES ($1, $2, $3, 'trace-8', 5, 1)`,
    [randomUUID(), app.first.organisation_id, app.first.workspace_id],
  );
});
afterAll(async () => {
  await direct.close();
  await app.close();
});
beforeEach(() => app.dataSource.query('DELETE FROM analytics_jobs'));

/** Every minute of the range may have one, its first and its last as well. */
function rowAt(at: number): StoredRequest & { created_at: Date } {
  const created_at = new Date(FIRST + Math.floor((at * (DAYS * DAY - 1)) / (COUNT - 1)));
  const team = TEAMS[at % TEAMS.length];
  return {
    id: uuidV7(created_at.getTime() + at),
    created_at,
    organisation_id: app.first.organisation_id,
    workspace_id: at % 3 === 0 ? workspaceTwo : app.first.workspace_id,
    api_key_id: at % 5 < 2 ? member.id : randomUUID(),
    trace_id: `trace-${at}`,
    model: at % 2 === 0 ? 'gpt-5' : 'claude-5',
    status: at % 7 === 0 ? 500 : 200,
    input_tokens: at % 9 === 0 ? null : at,
    output_tokens: at % 11,
    cost_nano_usd: at % 13 === 0 ? null : at * 1_000_000,
    duration_ms: 20 + ((at * 37) % 4_000),
    metadata: team === undefined ? { other: 'x' } : { team },
  };
}

async function userKey(): Promise<{ id: string; key: string }> {
  const person = await app.aPerson({ workspaces: [{ id: app.first.workspace_id, role: 'member' }] });
  const body = {
    name: 'Own',
    workspace_id: app.first.workspace_id,
    user_id: person.id,
    scopes: ['analytics.view'],
  };
  return (await app.call('POST', '/v1/api-keys/workspace/user', { body })).body;
}

const iso = (at: number): string => new Date(at).toISOString();
const RANGE = { time_of_generation_min: iso(FIRST), time_of_generation_max: iso(FIRST + DAYS * DAY) };

type Query = Readonly<Record<string, string>>;
const pathOf = (query: Query, groupBy = 'metadata/team'): string =>
  `/v1/analytics/groups/${groupBy}?${new URLSearchParams({ ...RANGE, ...query }).toString()}`;
const ask = (query: Query = {}, key?: string) => app.call('GET', pathOf(query), { key });

async function started(query: Query = {}, key?: string): Promise<string> {
  const { status, body, text } = await ask(query, key);
  expect(status, text).toBe(202);
  return body.id;
}

const count = (id: string, counting?: Counting) => groupCounter(app.dataSource, counting).count(id);
const job = (id: string, key?: string) => app.call('GET', `/v1/analytics/jobs/${id}`, { key });
const read = async (id: string): Promise<Json> => (await job(id)).body;
const sql = (text: string, parameters: unknown[] = []) => app.dataSource.query<Json[]>(text, parameters);
const freeLease = (id: string) => sql('UPDATE analytics_jobs SET leased_until = NULL WHERE id = $1', [id]);

const ALL_COLUMNS =
  'requests,cost,total_tokens,avg_tokens,avg_latency,p50_latency,p95_latency,success_rate,error_count,refusal_count,first_seen,last_seen';

/** The groups by team of these rows, computed here. */
function recomputed(of: readonly (typeof rows)[number][]): Json[] {
  const groups = new Map<string, (typeof rows)[number][]>();
  for (const row of of) {
    const team = row.metadata?.['team'] ?? '';
    groups.set(team, [...(groups.get(team) ?? []), row]);
  }
  const sum = (each: readonly Json[], name: string): number =>
    each.reduce((all: number, row) => all + Number(row[name] ?? 0), 0);
  return [...groups]
    .map(([metadata_value, each]) => ({
      metadata_value,
      requests: each.length,
      cost: sum(each, 'cost_nano_usd') / NANO_PER_CENT,
      total_tokens: sum(each, 'input_tokens') + sum(each, 'output_tokens'),
      error_count: each.filter(({ status = 0 }) => status >= 400).length,
      last_seen: iso(Math.max(...each.map(({ created_at }) => created_at.getTime()))),
      first_seen: iso(Math.min(...each.map(({ created_at }) => created_at.getTime()))),
    }))
    .sort((one, other) => (one.metadata_value < other.metadata_value ? -1 : 1));
}

const byValue = ({ data }: { readonly data: Json[] }): Json[] =>
  [...data].sort((one, other) => (one.metadata_value < other.metadata_value ? -1 : 1));

describe('groups that read too many request rows', () => {
  it('are counted by a job, exactly as the rows say and as the direct response shows them', async () => {
    const columns = { columns: ALL_COLUMNS };
    const { body: expected } = await direct.call('GET', pathOf(columns));
    const answer = await ask(columns);
    expect(answer.status).toBe(202);
    expect(answer.headers).toMatchObject({
      location: `/v1/analytics/jobs/${answer.body.id}`,
      'retry-after': '2',
    });
    expect(answer.body).toMatchObject({ status: 'in_progress', progress: 0, problem: null, result: null });

    expect(await count(answer.body.id)).toBe('success');

    const done = await read(answer.body.id);
    expect(done).toMatchObject({ status: 'success', progress: 100 });
    expect(done.result).toEqual(expected);
    expect(byValue(done.result)).toEqual(recomputed(rows).map((group) => expect.objectContaining(group)));
    expect(done.result.data).toContainEqual(
      expect.objectContaining({
        metadata_value: 'search',
        requests_with_feedback: 1,
        avg_weighted_feedback: 5,
      }),
    );
  });

  it('have the scope and the filters of the request', async () => {
    const id = await started({ ai_model: 'gpt-5', cost_min: '1', workspace_slug: 'ws-two' });
    expect(await count(id)).toBe('success');

    const matching = rows.filter(
      ({ model, cost_nano_usd, workspace_id }) =>
        model === 'gpt-5' && (cost_nano_usd ?? 0) >= NANO_PER_CENT && workspace_id === workspaceTwo,
    );
    const expected = recomputed(matching).map(({ metadata_value, requests, cost }) =>
      expect.objectContaining({ metadata_value, requests, cost }),
    );
    expect(byValue((await read(id)).result)).toEqual(expected);
  });

  it('of another property are counted in the same way', async () => {
    const query = { cost_min: '1', columns: ALL_COLUMNS };
    const { body: expected } = await direct.call('GET', pathOf(query, 'model'));
    const { body } = await app.call('GET', pathOf(query, 'model'));
    expect(await count(body.id)).toBe('success');

    expect((await read(body.id)).result).toEqual(expected);
  });

  it('are returned directly when the rollups count few enough of them, or all', async () => {
    const short = { time_of_generation_max: iso(FIRST + 6 * 3_600_000) };
    expect((await ask(short)).status).toBe(200);
    expect((await ask({ status_code: '500', time_of_generation_max: iso(FIRST + 2 * DAY) })).status).toBe(
      200,
    );
    expect((await app.call('GET', pathOf({}, 'metadata/_user'))).status).toBe(200);
    expect((await app.call('GET', pathOf({}, 'model'))).status).toBe(200);
    expect(await sql('SELECT id FROM analytics_jobs')).toEqual([]);
  });

  it('are counted by a job when the direct query reaches its time limit', async () => {
    const lock = app.dataSource.createQueryRunner();
    await lock.startTransaction();
    await lock.query('LOCK TABLE request_logs IN ACCESS EXCLUSIVE MODE');
    const answer = await direct.call('GET', pathOf({}));
    await lock.rollbackTransaction();
    await lock.release();

    expect(answer.status).toBe(202);
    expect(await count(answer.body.id)).toBe('success');
  });
});

describe('a job', () => {
  it('serves the same request while it runs, and any page and order of it afterwards', async () => {
    const id = await started({ order_by: 'p50_latency' });
    expect(await started({ order_by: 'p50_latency' })).toBe(id);
    expect(await started({ columns: 'cost,p95_latency' })).toBe(id);
    const others = await Promise.all([started({ ai_model: 'gpt-5' }), started({ ai_model: 'gpt-5' })]);
    expect(new Set([id, ...others]).size).toBe(2);
    await count(id);

    const view = {
      order_by: 'p95_latency',
      order_by_type: 'asc',
      page_size: '2',
      columns: 'requests,p95_latency',
    };
    for (const current_page of ['0', '1', '2']) {
      const { status, body } = await ask({ ...view, current_page });
      expect(status).toBe(200);
      await sql("UPDATE analytics_jobs SET identity = 'hidden ' || identity WHERE id = $1", [id]);
      expect(body).toEqual((await direct.call('GET', pathOf({ ...view, current_page }))).body);
      await sql('UPDATE analytics_jobs SET identity = substr(identity, 8) WHERE id = $1', [id]);
    }
  });

  it('shows how much it counted, and continues there after its process ended', async () => {
    const id = await started();
    let parts = 0;
    expect(await count(id, { isStopping: () => ++parts > 2 })).toBe('released');
    const { status, progress, result } = await read(id);
    expect([status, result]).toEqual(['in_progress', null]);
    expect(progress).toBe(Math.floor((100 * (Date.parse('2026-10-03T00:00:00Z') - FIRST)) / (DAYS * DAY)));

    expect(await count(id)).toBe('success');
    expect(byValue((await read(id)).result).map(({ requests }) => requests)).toEqual(
      recomputed(rows).map(({ requests }) => requests),
    );
  });

  it('counts each request once when processes are killed before, in and after a part', async () => {
    const id = await started();
    const source = compileSource();
    const program = source.program('killed-counting.js', KILLED_COUNTING);
    const endings: (string | null)[] = [];
    for (const moment of ['before', 'within', 'never']) {
      const child = spawn(process.execPath, [program, app.url, id, moment], { stdio: 'inherit' });
      const [, signal] = (await once(child, 'exit')) as [number, string | null];
      endings.push(signal);
      await freeLease(id);
    }
    source.remove();

    expect(endings).toEqual(['SIGKILL', 'SIGKILL', null]);
    const { status, result } = await read(id);
    expect(status).toBe('success');
    expect(byValue(result)).toEqual(
      recomputed(rows).map(({ metadata_value, requests, cost }) =>
        expect.objectContaining({ metadata_value, requests, cost }),
      ),
    );
  }, 240_000);

  it('is counted by one of two processes, also when one loses its lease in a part', async () => {
    const id = await started();
    expect((await Promise.all([count(id), count(id)])).sort()).toEqual(['absent', 'success']);

    const stolen = await started({ order_by: 'requests', ai_model: 'gpt-5' });
    let parts = 0;
    let second: Promise<string> | undefined;
    const isStopping = (): boolean => {
      if (++parts === 2) second = freeLease(stolen).then(() => count(stolen));
      return false;
    };
    const first = await count(stolen, { isStopping });
    expect([first, await second].sort()).toEqual(['absent', 'success']);
    expect(byValue((await read(stolen)).result).map(({ requests }) => requests)).toEqual(
      recomputed(rows.filter(({ model }) => model === 'gpt-5')).map(({ requests }) => requests),
    );
  });

  it('adds nothing for a process that lost its lease', async () => {
    const id = await started();
    const leases = new AnalyticsLeases(app.dataSource);
    const lost = await leases.claim(id);
    await freeLease(id);
    const held = await leases.claim(id);
    if (!lost || !held) throw new Error('The job was not claimed.');
    const part = { from: new Date(FIRST), to: new Date(FIRST + DAY), isExact: true };

    expect(await leases.advance(app.dataSource, lost, part)).toBe(false);
    expect(await leases.advance(app.dataSource, held, part)).toBe(true);
    expect(await leases.advance(app.dataSource, held, part), 'the part is counted').toBe(false);
    expect(await leases.succeed(lost)).toBe(false);
  });

  it('can only be read by callers that may send its request', async () => {
    const own = await app.workspaceKey(['analytics.view']);
    const elsewhere = await app.workspaceKey(['analytics.view'], workspaceTwo);
    const without = await app.workspaceKey(['logs.list']);
    const ofOrganization = await started();
    const ofWorkspace = await started({}, own.key);
    const statuses = async (id: string, ...keys: (string | undefined)[]): Promise<number[]> => {
      const answers = await Promise.all(keys.map((key) => job(id, key)));
      return answers.map(({ status }) => status);
    };

    expect(await statuses(ofOrganization, undefined, own.key, elsewhere.key)).toEqual([200, 404, 404]);
    expect(await statuses(ofWorkspace, undefined, own.key, elsewhere.key, without.key)).toEqual([
      200, 200, 404, 403,
    ]);

    await app.call('PUT', '/v1/admin/organisation', {
      body: { security_settings: { membersViewAllData: false } },
    });
    const restricted = await started({}, member.key);
    const ofOwnTraffic = await statuses(restricted, member.key, undefined, own.key);
    const ofAllTraffic = await statuses(ofWorkspace, member.key);
    await count(restricted);
    const seen = (await job(restricted, member.key)).body;
    await app.call('PUT', '/v1/admin/organisation', {
      body: { security_settings: { membersViewAllData: true } },
    });
    expect([ofOwnTraffic, ofAllTraffic]).toEqual([[200, 404, 404], [404]]);
    const theirs = rows.filter((row) => row.api_key_id === member.id && row.workspace_id !== workspaceTwo);
    expect(byValue(seen.result).map(({ requests }) => requests)).toEqual(
      recomputed(theirs).map(({ requests }) => requests),
    );

    await sql(
      "UPDATE analytics_jobs SET organization_id = (SELECT id FROM organizations WHERE name = 'B'), workspace_id = NULL WHERE id = $1",
      [ofOrganization],
    );
    expect(await statuses(ofOrganization, undefined)).toEqual([404]);
    expect(await statuses(randomUUID(), undefined)).toEqual([404]);
  });

  it('is deleted with its groups when it expired, and the request starts another', async () => {
    const id = await started();
    await count(id);
    await sql("UPDATE analytics_jobs SET expires_at = now() - interval '1 second' WHERE id = $1", [id]);
    expect((await job(id)).status).toBe(404);
    expect(await started()).not.toBe(id);

    const background = await startCounting(app.settings);
    try {
      await background.get(SweepAnalyticsJobs).sweep();
      expect(await sql('SELECT job_id FROM analytics_job_groups WHERE job_id = $1', [id])).toEqual([]);
    } finally {
      await background.close();
    }
  });

  it('fails at its deadline, also in the middle', async () => {
    const id = await started();
    let parts = 0;
    const expire = (): boolean => {
      if (++parts === 2)
        void sql("UPDATE analytics_jobs SET expires_at = now() - interval '1 second' WHERE id = $1", [id]);
      return false;
    };
    const slow = new Promise<string>((resolve) => {
      void count(id, { isStopping: expire }).then(resolve);
    });
    expect(await slow).toBe('absent');

    const background = await startCounting(app.settings);
    try {
      await background.get(SweepAnalyticsJobs).sweep();
    } finally {
      await background.close();
    }
    const failed = await read(id);
    expect(failed).toMatchObject({ status: 'failed', result: null });
    expect(failed.problem).toContain('15 minutes');
    expect(failed.progress).toBeLessThan(100);
    expect(await started()).not.toBe(id);
  });

  it('halves a part that takes too long, and fails when a minute does', async () => {
    const id = await started();
    const lock = app.dataSource.createQueryRunner();
    await lock.startTransaction();
    await lock.query('LOCK TABLE request_logs IN ACCESS EXCLUSIVE MODE');
    const ending = await count(id, { partMs: 20 });
    const { problem, progress } = await read(id);
    await lock.rollbackTransaction();
    await lock.release();

    expect(ending).toBe('failed');
    expect([progress, problem]).toEqual([0, expect.stringContaining('single minute')]);
  });

  it('fails when it has more groups than can be shown', async () => {
    const id = await started();
    expect(await count(id, { groupsMax: 3 })).toBe('failed');
    expect((await read(id)).problem).toContain('more than 3 groups');
  });

  it('is refused while five of the organization run', async () => {
    for (const at of [1, 2, 3, 4, 5]) await started({ cost_min: String(at / 1_000) });
    const { status, body } = await ask({ cost_min: '0.006' });
    expect(status).toBe(409);
    expect(body.error.message).toContain('5 analytics jobs');
  });

  it('is refused beyond five of the organization, however many are requested at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, at) => ask({ cost_min: String((at + 1) / 1_000) })),
    );
    const [running] = await sql(
      `SELECT count(*)::int AS jobs FROM analytics_jobs WHERE organization_id = $1 AND status = 'in_progress'`,
      [app.first.organisation_id],
    );
    expect(running?.jobs).toBeLessThanOrEqual(5);
    expect(all.filter(({ status }) => status === 202)).toHaveLength(running?.jobs);
  });

  it('is deleted before its time when the organization has twenty newer ones', async () => {
    const oldest = await started({ cost_min: '0.001' });
    await count(oldest);
    for (let at = 0; at < 19; at += 1) {
      expect((await job(oldest)).status).toBe(200);
      await count(await started({ cost_min: String((at + 2) / 1_000) }));
    }
    await started({ cost_min: '0.5' });
    expect((await job(oldest)).status).toBe(404);
    expect((await ask({ cost_min: '0.001' })).status).toBe(202);
  });

  it('is found by the background process, and counted', async () => {
    const id = await started();
    const background = await startCounting(app.settings);
    try {
      await eventually(async () => (await read(id)).status === 'success', { what: 'the job' });
    } finally {
      await background.close();
    }
    expect((await ask()).status).toBe(200);
  });
});

/** A background process that kills itself at its second part: before the transaction, or in it with the cursor moved. */
const KILLED_COUNTING = `
  import { createDataSource } from './schema/data-source.js';
  import { UnitOfWork } from './database/unit-of-work.js';
  import { LogDatabase } from './request-log/reading/log-database.js';
  import { KeptLogs } from './request-log/reading/kept-logs.js';
  import { LogScope } from './request-log/reading/log-scope.js';
  import { PostgresUsageReader } from './request-log/analytics/postgres/postgres-usage-reader.js';
  import { AnalyticsLeases } from './jobs/analytics/analytics-leases.js';
  import { GroupCounter } from './jobs/analytics/group-counter.js';

  const [url, id, moment] = process.argv.slice(2);
  const dataSource = await createDataSource(url, 3, 'background').initialize();
  const unitOfWork = new UnitOfWork(dataSource);
  const logs = new LogDatabase(dataSource, unitOfWork);
  const kept = new KeptLogs(logs, { retentionDays: { logs: 0, bodies: 0, minutes: 0 } });
  let parts = 0;
  const { advance } = AnalyticsLeases.prototype;
  AnalyticsLeases.prototype.advance = async function (...given) {
    const dies = moment !== 'never' && ++parts === 2;
    if (dies && moment === 'before') process.kill(process.pid, 'SIGKILL');
    const answer = await advance.apply(this, given);
    if (dies) process.kill(process.pid, 'SIGKILL');
    return answer;
  };
  await new GroupCounter({
    leases: new AnalyticsLeases(dataSource),
    reader: new PostgresUsageReader(logs, kept, new LogScope(logs)),
    unitOfWork,
    isStopping: () => false,
  }).count(id);
  process.exit(0);
`;
