import type { QueryCondition } from '../../reading/log-filters.js';
import type { KeptLogs } from '../../reading/kept-logs.js';
import type { LogDatabase } from '../../reading/log-database.js';
import { isIndexed, type LogScope } from '../../reading/log-scope.js';
import type { Whose } from '../../reading/where.js';
import { userHash } from '../../rollups/ready.js';
import { GRANULARITIES, type Granularity } from '../../rollups/granularities.js';
import { countedRange, cover, rangeOfAll, rangeOfRows, slotsFrom } from '../coverage.js';
import { addsUp, READ_MEASURES, type ReadMeasureName, MeasureSums } from '../read-measures.js';
import { sourceFor } from '../sources.js';
import type {
  CountedRange,
  GroupedBy,
  Groups,
  GroupsRequest,
  Series,
  TimeRange,
  UsageQuery,
  AnalyticsReader,
} from '../usage-store.js';
import { GrowingSums } from './counts.js';
import { DistinctUsers } from './distinct-users.js';
import { GroupReader } from './group-reader.js';
import { type ReadState, readState } from './rollup-state.js';
import { type PostgresSource, postgresSource, USERS_OF_ALL } from './source.js';
import { type QueryStart, type StartedQuery, valuesSql } from './started-query.js';
import { QueryParameters } from './statement.js';

/** Counts requests for charts and groups: from the rollups, or from the request rows where the rollups lack a dimension. */
export class PostgresUsageReader implements AnalyticsReader {
  private readonly groupReader: GroupReader;

  constructor(
    private readonly database: LogDatabase,
    private readonly kept: KeptLogs,
    private readonly scope: LogScope,
    /** Default: read for each query. */
    private readonly state?: ReadState,
  ) {
    this.groupReader = new GroupReader(database, (...query) => this.begin(...query));
  }

  async series(
    whose: Whose,
    query: UsageQuery,
    measures: readonly ReadMeasureName[],
    slots: readonly number[],
  ): Promise<Series> {
    if (measures.includes('requests_of_users') && query.conditions.length === 0)
      return this.ofUsers(whose, query, slots);
    const added = measures.filter((name) => name !== 'users');
    const sums = added.length === 0 ? null : await this.sums(whose, query, { measures: added, slots });
    const users = measures.includes('users') ? await this.users(whose, query, slots) : null;
    const bySlot = new Map(sums?.rows.map(({ slot, ...row }) => [slot, row]));
    const points = slots.map(
      (_, at) => new MeasureSums({ ...bySlot.get(at + 1), users: users?.counts.slots[at] }),
    );
    const whole = { ...bySlot.get(null), users: users?.counts.total };
    return {
      range: rangeOfAll([sums, users].flatMap((each) => (each ? [each.range] : []))),
      total: added.every(addsUp) ? MeasureSums.of(points, added, whole) : new MeasureSums(whole),
      slots: points,
    };
  }

  /** By slot number; null holds the total, where it is not the sum of its parts. */
  private async sums(whose: Whose, query: UsageQuery, options: QueryStart): Promise<CountedRows> {
    const begun = await this.begin(whose, query, options);
    return { range: begun.range, rows: await this.rowsOf(begun, options.measures) };
  }

  private rowsOf(begun: StartedQuery, measures: readonly ReadMeasureName[]): Promise<readonly SlotRow[]> {
    const { statement, source, from } = begun;
    const slot = slotSql(begun);
    const isWholeOfParts = measures.every(addsUp);
    const hasCounts = measures.some((name) => READ_MEASURES[name].type === 'jsonb');
    if (source.selectTexts && hasCounts && isWholeOfParts) {
      const select = `${slot} AS slot, ${source.selectTexts(measures)}`;
      return this.sumsOfTexts(begun, measures, `SELECT ${select} FROM ${from} GROUP BY 1, at`);
    }
    return this.database.read(
      `SELECT ${slot} AS slot, ${source.select(measures)}
       FROM ${from} GROUP BY ${isWholeOfParts ? '1' : 'GROUPING SETS ((1), ())'}`,
      statement.parameters,
    );
  }

  /** One row per bucket, so that no row grows with the range. */
  private async sumsOfTexts(
    { statement }: StartedQuery,
    measures: readonly ReadMeasureName[],
    sql: string,
  ): Promise<readonly SlotRow[]> {
    const bySlot = new Map<number, GrowingSums>();
    await this.database.each(sql, statement.parameters, (row) => {
      const at = Number(row.slot);
      const sums = bySlot.get(at) ?? new GrowingSums(measures);
      bySlot.set(at, sums);
      sums.add(row);
    });
    return [...bySlot].map(([slot, { row }]) => ({ ...row, slot }));
  }

  /**
   * Users and their requests: all requests except those without a user. In a bucket both the totals and the requests without a user are one
   * row, while users have a row each. One statement reads both, because requests counted between two statements would be in only one of
   * them.
   */
  private async ofUsers(whose: Whose, { range }: UsageQuery, slots: readonly number[]): Promise<Series> {
    const statement = new QueryParameters();
    const options: QueryStart = { measures: ['requests'], slots, statement };
    const all = await this.begin(whose, { range, conditions: [] }, options);
    const isOwnerless = { range, conditions: [WITHOUT_USER] };
    const ownerless = await this.begin(whose, isOwnerless, { ...options, values: [WITHOUT_USER.parameter] });
    const named = await this.database.read<{ slot: number; count: string }>(
      `SELECT ${slotSql(all)} AS slot, sum(requests)::bigint AS count FROM (
         SELECT at, requests FROM ${all.from} UNION ALL SELECT at, -requests FROM ${ownerless.from}
       ) AS named GROUP BY 1`,
      statement.parameters,
    );
    const users = await this.users(whose, { range, conditions: [] }, slots);
    const bySlot = new Map(named.map(({ slot, count }) => [slot, Number(count)]));
    const points = slots.map(
      (_, at) =>
        new MeasureSums({ requests_of_users: bySlot.get(at + 1) ?? 0, users: users.counts.slots[at] }),
    );
    const total = MeasureSums.of(points, ['requests_of_users'], { users: users.counts.total });
    return { range: rangeOfAll([all.range, users.range]), total, slots: points };
  }

  /** From precomputed hashes; from the request rows where only some requests match. */
  private async users(whose: Whose, query: UsageQuery, slots: readonly number[]): Promise<CountedUsers> {
    const source = query.conditions.length === 0 ? USERS_OF_ALL : undefined;
    const begun = await this.begin(whose, query, { measures: ['users'], slots, source });
    const { statement, from, range } = begun;
    const slot = slotSql(begun);
    const sql = source
      ? `SELECT ${slot} AS slot, users FROM ${from} ORDER BY 1`
      : `SELECT slot, string_agg(${userHash('end_user')}, '') AS users
         FROM (SELECT ${slot} AS slot, end_user FROM ${from} GROUP BY 1, 2) AS seen WHERE end_user <> '' GROUP BY 1`;
    const users = new DistinctUsers(slots.length);
    await this.database.each(sql, statement.parameters, (row) => {
      users.add(Number(row['slot']), row['users'] as Buffer);
    });
    return { range, counts: users };
  }

  /** The fewest rows that an index finds for one of the filters; without such a filter, all of the range are read. */
  async estimatedRows(
    whose: Whose,
    { range, conditions }: UsageQuery,
    by: GroupedBy,
  ): Promise<number | null> {
    const state = await this.stateFor(whose, range);
    const metadataKeys = completeKeys(state, range);
    if (sourceFor({ conditions, measures: ['requests'], by, metadataKeys }).kind !== 'rows') return null;
    const indexed = conditions.filter(isIndexed).map((condition) => [condition]);
    const counts = (indexed.length > 0 ? indexed : [[]]).map((alone) =>
      this.sums(whose, { range, conditions: alone }, { measures: ['requests'], slots: [range.from], state }),
    );
    const results = await Promise.all(counts);
    return Math.min(...results.map(({ rows }) => Number(rows[0]?.['requests'] ?? 0)));
  }

  /** Groups of request rows only. */
  beginRows(whose: Whose, query: UsageQuery, by: GroupedBy): Promise<StartedQuery> {
    return this.begin(whose, query, {
      measures: [],
      slots: [],
      by,
      source: postgresSource({ kind: 'rows' }),
    });
  }

  groups(whose: Whose, query: UsageQuery, options: GroupsRequest): Promise<Groups> {
    return this.groupReader.read(whose, query, options);
  }

  together<T>(whose: Whose, within: TimeRange, work: (reader: AnalyticsReader) => Promise<T>): Promise<T> {
    return this.database.together(async () => {
      const state = await readState(this.database, whose, within);
      return work(new PostgresUsageReader(this.database, this.kept, this.scope, state));
    });
  }

  private stateFor(whose: Whose, range: TimeRange): Promise<ReadState> {
    return this.state ? Promise.resolve(this.state) : readState(this.database, whose, range);
  }

  private async begin(
    whose: Whose,
    { range: asked, conditions }: UsageQuery,
    options: QueryStart,
  ): Promise<StartedQuery> {
    const state = options.state ?? (await this.stateFor(whose, asked));
    const need = { conditions, ...options, metadataKeys: completeKeys(state, asked) };
    const { statement = new QueryParameters(), source = postgresSource(sourceFor(need)) } = options;
    const tenant = source.table
      ? statement.tenantOfRollup({ ...whose, ...state.scope })
      : statement.tenant(await this.scope.narrowed(whose, conditions));
    const range = source.table
      ? countedRange(asked, options.slots, state)
      : rangeOfRows(asked, Math.max(state.rowsFrom, await this.kept.since(whose)));
    const slots = slotsFrom(range, options.slots);
    const coverage = source.table ? cover(range, slots, state) : null;
    const parts = coverage
      ? GRANULARITIES.flatMap((granularity) =>
          coverage[granularity].map((each) => [granularity, each] as const),
        )
      : [[null, range] as const];
    const within = ({ from, to }: TimeRange): string =>
      `${source.time} >= ${statement.bind(new Date(from))}::timestamptz AND ${source.time} < ${statement.bind(new Date(to))}::timestamptz`;
    const keyed = (granularity: Granularity | null, each: TimeRange): string =>
      options.values && granularity
        ? ` AND ${valuesSql(statement, options.values, [granularity, each])}`
        : '';
    const columnsRequest = { ...options, isFiltered: conditions.length > 0 };
    // One SELECT per range: with OR, PostgreSQL does not use an index-only scan.
    const selects = parts.map(
      ([granularity, each]) =>
        `SELECT ${source.columns(columnsRequest, granularity)} FROM ${tableOf(source, granularity)} WHERE ${tenant}${source.where} AND ${within(each)}${keyed(granularity, each)}`,
    );
    const kept = source.table ? [] : await this.kept.conditions(whose);
    const filters = [...conditions, ...kept].map(({ sql, parameter }) => sql(statement.bind(parameter)));
    const where = filters.length > 0 ? ` WHERE ${filters.join(' AND ')}` : '';
    return {
      statement,
      source,
      state,
      range,
      slots,
      from: `(${selects.join(' UNION ALL ')}) AS request_logs${where}`,
    };
  }
}

/** The metadata keys that are counted in the whole range. */
const completeKeys = ({ keys }: ReadState, { from }: TimeRange): ReadonlySet<string> =>
  new Set(keys.filter((key) => key.complete_since <= from).map(({ key }) => key));

/** The number of the slot that a row belongs to, from 1. */
const slotSql = ({ statement, slots }: StartedQuery): string =>
  `width_bucket(at, ${statement.bind(slots.map((each) => new Date(each)))}::timestamptz[])`;

/** In the slice by end user, where every request has a value. */
const WITHOUT_USER = {
  sql: (value: string) => `end_user = ${value}`,
  parameter: '',
  on: ['end_user'],
  inClickHouse: null,
} satisfies QueryCondition;

type PostgresUsageRow = Readonly<Record<string, unknown>>;
type SlotRow = PostgresUsageRow & { readonly slot: number | null };

interface CountedRows {
  readonly range: CountedRange;
  readonly rows: readonly SlotRow[];
}

interface CountedUsers {
  readonly range: CountedRange;
  readonly counts: DistinctUsers;
}

const tableOf = (source: PostgresSource, granularity: Granularity | null): string =>
  source.table && granularity ? source.table(granularity) : 'request_logs';
