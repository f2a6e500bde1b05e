import { existsSync } from 'node:fs';
import type { ChildProcess } from 'node:child_process';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AnalyticsService } from '../../src/admin/analytics/analytics.service.js';
import {
  FacetQuery,
  GraphQuery,
  GroupsQuery,
  SeriesQuery,
} from '../../src/admin/analytics/analytics-query.dto.js';
import { readQuery } from '../../src/admin/http/read-query.js';
import { FACETS, type FacetName, FacetsService } from '../../src/admin/analytics/facets.service.js';
import { FeedbackReader } from '../../src/admin/analytics/feedback-reader.js';
import { GRAPHS } from '../../src/admin/analytics/graphs.js';
import { GROUPINGS } from '../../src/admin/analytics/groups.js';
import { GroupsService } from '../../src/admin/analytics/groups.service.js';
import { AnalyticsJob } from '../../src/admin/analytics/jobs/analytics-job.entity.js';
import { Organization } from '../../src/admin/tenancy/organization.entity.js';
import { AnalyticsJobs } from '../../src/admin/analytics/jobs/analytics-jobs.service.js';
import { OverviewService } from '../../src/admin/analytics/overview.service.js';
import { PostgresLogRows } from '../../src/admin/logs/rows/postgres-log-rows.js';
import type { Visibility } from '../../src/auth/permissions/visibility.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { PostgresUsageReader } from '../../src/request-log/analytics/postgres/postgres-usage-reader.js';
import { KeyNamesReader } from '../../src/request-log/reading/key-names.js';
import { KeptLogs } from '../../src/request-log/reading/kept-logs.js';
import { conditionOf, type LogFilterName } from '../../src/request-log/reading/log-filters.js';
import { LogScope } from '../../src/request-log/reading/log-scope.js';
import { GRANULARITY_MS } from '../../src/request-log/rollups/granularities.js';
import { createDataSource } from '../../src/schema/data-source.js';
import { migrate } from '../../src/schema/migrate.js';
import { PostgresCluster } from '../support/postgres-cluster.js';
import { ExplainingDatabase } from './explaining-database.js';
import { DAYS, fill, NOW, ORGANIZATION, WORKSPACE } from './filled-rollups.js';

/** The oldest PostgreSQL that docs/settings.md allows, installed apart, and the one of this package. */
const OLDEST = new URL('../postgres-oldest/package.json', import.meta.url);
const VERSIONS = { 14: OLDEST, 18: undefined } as const;

const SCOPES: Readonly<Record<string, Visibility>> = {
  organization: { organizationId: ORGANIZATION, own: [] },
  workspace: { organizationId: ORGANIZATION, workspaceId: WORKSPACE, own: [] },
};
const HOURS = { '24 hours': 24, '30 days': DAYS * 24 };

/**
 * Pages of 8 KiB that one statement of the dashboard may read. The month of hours has some 15,000, and the hour of minutes at an end of the
 * range some 2,000: most of its rows are users', so counting users may read it whole.
 */
const MOST_PAGES = { '24 hours': 2_100, '30 days': 6_000 };
/** These read a row for each user and hour, and an organization has the users of all its workspaces. */
const MOST_PAGES_OF_USERS = 14_000;
const OF_USERS: ReadonlySet<string> = new Set([
  'graph users',
  'graph requestsPerUser',
  'groups users with percentiles',
  'groups users by percentile',
]);
const MOST_PAGES_OF_LIST = 1_000;

/** A partition of hours or days. */
const MONTH = /_(hour|day)_\d{6}$/;

type Database = readonly [ExplainingDatabase, DataSource, UnitOfWork];
type Ask = (reach: Visibility, query: Readonly<Record<string, string>>) => Promise<unknown>;

function questionsOf([database, dataSource, unit]: Database): Readonly<Record<string, Ask>> {
  const kept = new KeptLogs(database, { retentionDays: { logs: 0, bodies: 0, minutes: 0 } });
  const usage = new PostgresUsageReader(database, kept, new LogScope(database));
  const names = new KeyNamesReader(database);
  const feedback = new FeedbackReader(database, kept);
  const analytics = new AnalyticsService(usage, feedback);
  const jobs = new AnalyticsJobs(
    dataSource.getRepository(AnalyticsJob),
    dataSource.getRepository(Organization),
    unit,
  );
  const groupings = new GroupsService(usage, feedback, names, jobs, database, { analyticsDirectRows: 1 });
  const [overview, facets] = [new OverviewService(usage, names), new FacetsService(usage, names)];
  const graphs = GRAPHS.map((graph): [string, Ask] => [
    `graph ${graph.name}`,
    (reach, query) => analytics.graph(reach, readQuery(query, GraphQuery), graph),
  ]);
  const groups = Object.keys(GROUPINGS).map((name): [string, Ask] => [
    `groups ${name}`,
    (reach, query) => groupings.read(reach, readQuery(query, GroupsQuery), name),
  ]);
  const values = (Object.keys(FACETS) as FacetName[]).map((name): [string, Ask] => [
    `facet ${name}`,
    (reach, query) => facets.read(reach, readQuery(query, FacetQuery), name),
  ]);
  const detailed: Ask = (reach, query) =>
    groupings.read(reach, readQuery({ ...query, columns: 'requests,p95_latency' }, GroupsQuery), 'users');
  return {
    overview: (reach, query) => overview.read(reach, readQuery(query, SeriesQuery)),
    ...Object.fromEntries([...graphs, ...groups, ...values]),
    'groups users with percentiles': detailed,
    'groups users by percentile': (reach, query) => detailed(reach, { ...query, order_by: 'p95_latency' }),
  };
}

const LISTS: readonly Partial<Record<LogFilterName, string>>[] = [
  {},
  { user: 'user-77' },
  { user: 'nobody' },
  { ai_model: 'rare' },
  { ai_model: 'rare', status_code: '404' },
  { ai_model: 'frequent', status_code: '404' },
  { user: 'user-77', ai_model: 'frequent' },
  { trace_id: 'trace-77' },
];

describe.each(Object.entries(VERSIONS))('PostgreSQL %s', (version, from) => {
  let cluster: PostgresCluster;
  let server: ChildProcess;
  let dataSource: DataSource;
  let database: ExplainingDatabase;
  let unit: UnitOfWork;

  beforeAll(async () => {
    cluster = await PostgresCluster.make(`plans-${version}`, ['--no-sync'], from);
    server = await cluster.start({ fsync: 'off', autovacuum: 'off' });
    dataSource = await createDataSource(cluster.url, 4, 'migrations').initialize();
    await migrate(dataSource);
    await fill(dataSource);
    unit = new UnitOfWork(dataSource);
    database = new ExplainingDatabase(dataSource, unit);
  });
  afterAll(async () => {
    await database.onApplicationShutdown();
    await dataSource.destroy();
    const gone = new Promise((done) => server.once('exit', done));
    if (server.kill('SIGINT')) await gone;
    cluster.remove();
  });

  /** The statements of a request, run as the tenant's role, whose policies restrict the planner. */
  const statementsOf = async (ask: () => Promise<unknown>) => {
    database.statements = [];
    await unit.runFor({ organizationId: ORGANIZATION, isReading: true }, ask);
    return database.statements;
  };

  it('is the version that is meant', async () => {
    const [row] = await dataSource.query<{ server_version: string }[]>('SHOW server_version');
    expect(row?.server_version.split('.')[0]).toBe(version);
  });

  describe.each(Object.entries(SCOPES))('for the whole %s', (_, reach) => {
    it.each(Object.entries(HOURS))(
      'reads no table of %s whole for any figure of the dashboard',
      async (range, hours) => {
        const query = {
          time_of_generation_min: new Date(NOW - hours * GRANULARITY_MS.hour).toISOString(),
          time_of_generation_max: new Date(NOW).toISOString(),
        };
        const most = MOST_PAGES[range as keyof typeof MOST_PAGES];
        const faults: unknown[] = [];
        for (const [name, ask] of Object.entries(questionsOf([database, dataSource, unit])))
          for (const { sql, pages, scanned } of await statementsOf(() => ask(reach, query))) {
            const months = range === '24 hours' ? scanned.filter((table) => MONTH.test(table)) : [];
            const isBeyond = pages > (OF_USERS.has(name) ? MOST_PAGES_OF_USERS : most);
            if (isBeyond || months.length > 0) faults.push({ name, pages, months, sql });
          }

        expect(faults).toEqual([]);
      },
    );

    it.each(['groups users', 'groups ai-models', 'graph cost'])(
      'passes the rows of an index on unchanged for %s',
      async (name) => {
        const ask = questionsOf([database, dataSource, unit])[name];
        const query = {
          time_of_generation_min: new Date(NOW - DAYS * GRANULARITY_MS.day).toISOString(),
          time_of_generation_max: new Date(NOW).toISOString(),
          ...(name.startsWith('groups') ? { columns: 'requests,cost' } : {}),
        };
        const statements = await statementsOf(async () => ask?.(reach, query));

        expect(statements.length).toBeGreaterThan(0);
        expect(statements.flatMap(({ rebuilt }) => rebuilt)).toEqual([]);
      },
    );

    it.each(LISTS)('finds the requests of a list by %j through indexes', async (filters) => {
      const rows = new PostgresLogRows(database, new LogScope(database));
      const conditions = Object.entries(filters).map(([name, text]) =>
        conditionOf(name as LogFilterName, text),
      );
      const statements = await statementsOf(() =>
        rows.list(reach, { conditions, size: 50, after: null, includesTotal: false }),
      );

      expect(
        statements.filter(
          ({ pages, scanned }) => pages > MOST_PAGES_OF_LIST || scanned.includes('request_logs'),
        ),
      ).toEqual([]);
    });
  });
});

it('has the oldest PostgreSQL at hand', () => {
  expect(
    existsSync(new URL('node_modules', OLDEST)),
    'npm install --prefix test/postgres-oldest --no-package-lock',
  ).toBe(true);
});
