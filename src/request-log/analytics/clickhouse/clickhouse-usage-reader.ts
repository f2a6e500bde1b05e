import type { KeptLogs } from '../../reading/kept-logs.js';
import type { LogDatabase } from '../../reading/log-database.js';
import type { Whose } from '../../reading/where.js';
import { GRANULARITY_MS, GRANULARITIES, startOf } from '../../rollups/granularities.js';
import { labelInClickHouse } from '../../rollups/labels.js';
import type { RetentionDays } from '../../../common/settings/settings.js';
import { countedRange, cover, rangeOfRows, type RollupState, slotsFrom } from '../coverage.js';
import { type ReadMeasureName, READ_MEASURES, MeasureSums } from '../read-measures.js';
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
import type { ClickHouse } from './clickhouse.js';
import { clickhouseGroupKey, clickhouseGroupOrder, type Names } from './group-sql.js';
import { conditionsSql, type IdsOf, ClickHouseQuery } from './clickhouse-query.js';
import { type ClickhouseSource, clickhouseSource } from './source.js';

/** What stays in PostgreSQL, and its readers. */
interface BesideClickHouse {
  readonly database: LogDatabase;
  readonly kept: KeptLogs;
  readonly postgres: AnalyticsReader;
}

type ClickhouseUsageRow = Readonly<Record<string, unknown>>;

/** A query with its FROM and WHERE; callers add the grouping. */
interface ClickHouseStartedQuery {
  readonly range: CountedRange;
  readonly slots: readonly number[];
  readonly question: ClickHouseQuery;
  readonly source: ClickhouseSource;
  readonly from: string;
}

interface ClickhouseReadOptions {
  readonly measures: readonly ReadMeasureName[];
  readonly slots: readonly number[];
  readonly by?: GroupedBy;
}

const MS_PER_S = 1_000;
const MOST_NAMES = 10_000;

const COMPLETE_KEYS = 'SELECT key FROM rollup_metadata_keys WHERE complete_since <= $1';

/** Retention removes a day's rows from PostgreSQL before it removes them from ClickHouse. */
const ROWS_FROM = `SELECT CASE WHEN isfinite(before) THEN extract(epoch FROM before) * 1000 END::float8 AS rows_from
  FROM rollup_seals WHERE grain = 'row'`;

const NAMES: Readonly<Partial<Record<GroupedBy['kind'], string>>> = {
  workspace: 'SELECT id, slug FROM workspaces WHERE organization_id = $1 LIMIT $2',
  config: 'SELECT id, slug FROM configs WHERE organization_id = $1 LIMIT $2',
};

/**
 * Reads counts from ClickHouse: from the rollups, or from the request rows where the rollups lack a dimension. Queries about feedback read
 * PostgreSQL's request rows, the only store of feedback.
 */
export class ClickHouseUsageReader implements AnalyticsReader {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly beside: BesideClickHouse,
    private readonly retentionDays: Pick<RetentionDays, 'minutes'>,
  ) {}

  async series(
    whose: Whose,
    query: UsageQuery,
    measures: readonly ReadMeasureName[],
    slots: readonly number[],
  ): Promise<Series> {
    const begun = await this.begin(whose, query, { measures, slots });
    if (!begun) return this.beside.postgres.series(whose, query, measures, slots);
    const { question, source, from, range } = begun;
    const starts = begun.slots.map((slot) => slot / MS_PER_S);
    // Slot 0 holds the totals; time slots start at 1.
    const rows = await this.clickhouse.read<ClickhouseUsageRow & { slot: number }>(
      `SELECT roundDown(at, ${question.bind(starts, 'Array(UInt32)')}) AS slot, ${source.select(measures)}
       FROM ${from} GROUP BY GROUPING SETS ((slot), ())`,
      question.parameters,
    );
    const bySlot = new Map(rows.map(({ slot, ...sums }) => [slot, sumsOf(sums)]));
    const nothing = new MeasureSums({});
    return {
      range,
      total: bySlot.get(0) ?? nothing,
      slots: starts.map((start) => bySlot.get(start) ?? nothing),
    };
  }

  /** Rows are always read directly: five million take 0.8 s (docs/benchmarks-logs.md). Jobs count the rows of PostgreSQL. */
  async estimatedRows(): Promise<null> {
    return null;
  }

  async groups(whose: Whose, query: UsageQuery, options: GroupsRequest): Promise<Groups> {
    const { measures, by, page } = options;
    const begun = await this.begin(whose, query, { measures, slots: [], by });
    if (!begun) return this.beside.postgres.groups(whose, query, options);
    const { question, source, from, range } = begun;
    const value = labelInClickHouse(clickhouseGroupKey(by, question, await this.namesFor(by, whose)));
    const groups = `SELECT ${value} AS value, ${source.select(measures)} FROM ${from} GROUP BY 1`;
    const rows = await this.clickhouse.read<ClickhouseUsageRow & { value: string; groups: number }>(
      `SELECT *, count() OVER () AS groups FROM (${groups})
       ORDER BY ${clickhouseGroupOrder(options.orderBy)} ${options.direction} NULLS LAST, value
       LIMIT ${question.bind(page.take, 'UInt32')} OFFSET ${question.bind(page.skip, 'UInt32')}`,
      question.parameters,
    );
    return {
      range,
      total: rows[0]?.groups ?? (page.skip > 0 ? await this.countOf(groups, question) : 0),
      rows: rows.map(({ value: group, ...sums }) => [group, sumsOf(sums)]),
    };
  }

  /** Queries are independent of each other, so there is nothing to share. */
  together<T>(_: Whose, __: TimeRange, work: (reader: AnalyticsReader) => Promise<T>): Promise<T> {
    return work(this);
  }

  /** The number of groups, for a page beyond the last one: it has no rows that carry the count. */
  private async countOf(groups: string, { parameters }: ClickHouseQuery): Promise<number> {
    const [row] = await this.clickhouse.read<{ groups: number }>(
      `SELECT count() AS groups FROM (${groups})`,
      parameters,
    );
    return row?.groups ?? 0;
  }

  private async begin(
    whose: Whose,
    { range: requestedRange, conditions }: UsageQuery,
    options: ClickhouseReadOptions,
  ): Promise<ClickHouseStartedQuery | null> {
    const question = new ClickHouseQuery();
    const idsOf: IdsOf = (sql, parameter) => this.ids(sql, [whose.organizationId, parameter]);
    const asked = await conditionsSql(question, conditions, idsOf);
    if (!asked) return null;
    const keys = await this.beside.database.read<{ key: string }>(COMPLETE_KEYS, [
      new Date(requestedRange.from),
    ]);
    const metadataKeys = new Set(keys.map(({ key }) => key));
    const source = clickhouseSource(
      sourceFor({ conditions, measures: options.measures, by: options.by, metadataKeys }),
    );
    const kept = source.table ? [] : await this.beside.kept.conditions(whose);
    const filters = [...asked, ...((await conditionsSql(question, kept, idsOf)) ?? [])];
    const where = filters.length > 0 ? ` WHERE ${filters.join(' AND ')}` : '';
    const range = source.table
      ? countedRange(requestedRange, options.slots, this.state())
      : rangeOfRows(requestedRange, await this.rowsFrom(whose));
    const slots = slotsFrom(range, options.slots);
    const rows = this.rows(question, source, whose, { range, slots });
    return { question, source, range, slots, from: `(${rows}) AS request_logs${where}` };
  }

  private rows(
    question: ClickHouseQuery,
    { table, time, columns, where }: ClickhouseSource,
    whose: Whose,
    { range, slots }: { readonly range: TimeRange; readonly slots: readonly number[] },
  ): string {
    const tenant = question.tenant(whose);
    const select = (from: string, ranges: readonly TimeRange[]): string =>
      `SELECT *, ${columns} FROM ${from} WHERE ${tenant}${where}
       AND (${ranges.map((each) => question.between(time, each.from, each.to)).join(' OR ')})`;
    if (!table) return select('request_logs', [range]);
    const coverage = cover(range, slots, this.state());
    return GRANULARITIES.filter((granularity) => coverage[granularity].length > 0)
      .map((granularity) => select(table(granularity), coverage[granularity]))
      .join(' UNION ALL ');
  }

  /** Views keep every granularity up to date, so nothing is marked as changed; but minutes expire. */
  private state(): RollupState {
    const { minutes } = this.retentionDays;
    const minutesFrom = minutes === 0 ? -Infinity : startOf('day', Date.now()) - minutes * GRANULARITY_MS.day;
    return { changedHours: new Set(), changedDays: new Set(), minutesFrom };
  }

  private async rowsFrom(whose: Whose): Promise<number> {
    const { database, kept } = this.beside;
    const [row] = await database.read<{ rows_from: number | null }>(ROWS_FROM, []);
    return Math.max(row?.rows_from ?? -Infinity, await kept.since(whose));
  }

  private async ids(sql: string, parameters: readonly unknown[]): Promise<readonly string[]> {
    const rows = await this.beside.database.read<{ id: string }>(sql, parameters);
    return rows.map(({ id }) => id);
  }

  private async namesFor(by: GroupedBy, { organizationId }: Whose): Promise<Names> {
    const sql = NAMES[by.kind];
    if (sql === undefined) return { ids: [], slugs: [] };
    const rows = await this.beside.database.read<{ id: string; slug: string }>(sql, [
      organizationId,
      MOST_NAMES,
    ]);
    return { ids: rows.map(({ id }) => id), slugs: rows.map(({ slug }) => slug) };
  }
}

/** Timestamps are texts without a zone, in UTC. */
function sumsOf(row: ClickhouseUsageRow): MeasureSums {
  return new MeasureSums(
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, isMoment(name) ? momentOf(value) : value]),
    ),
  );
}

const isMoment = (name: string): boolean =>
  Object.hasOwn(READ_MEASURES, name) && READ_MEASURES[name as ReadMeasureName].type === 'timestamptz';

const momentOf = (value: unknown): Date => new Date(`${String(value).replace(' ', 'T')}Z`);
