import type { LogDatabase } from '../../reading/log-database.js';
import type { Whose } from '../../reading/where.js';
import { type ReadMeasureName, MeasureSums } from '../read-measures.js';
import type { GroupedBy, GroupOrder, Groups, GroupsRequest, UsageQuery } from '../usage-store.js';
import { postgresGroupKey, postgresGroupOrder, namedSql } from './group-sql.js';
import { rankedByLatency } from './ranked-groups.js';
import type { BeginQuery, QueryStart, StartedQuery } from './started-query.js';

/** Reads pages of groups. */
export class GroupReader {
  constructor(
    private readonly database: LogDatabase,
    private readonly begin: BeginQuery,
  ) {}

  /**
   * One page, and the number of groups. Requests without a value form the group '', so the groups add up to the total.
   *
   * Where values are many, only what orders them is added up for all, and the rest, such as histograms, for the page: in 30 days, 5,000 end
   * users have 150,000 rows, whose histograms take two seconds.
   */
  async read(whose: Whose, query: UsageQuery, options: GroupsRequest): Promise<Groups> {
    const { orderBy } = options;
    if ('latencyAt' in orderBy && hasManyValues(options.by))
      return this.byLatency(whose, query, options, orderBy.latencyAt);
    const needed = measuresOfOrder(orderBy);
    const isAll = options.measures.every((name) => needed.includes(name) || BESIDE_KEY.has(name));
    if (isAll || !hasManyValues(options.by)) return (await this.page(whose, query, options))[0];
    const [page, { source, state }] = await this.page(whose, query, { ...options, measures: needed });
    if (page.rows.length === 0) return page;
    // Request rows are read once: no index finds those of some values.
    if (source.table === null) return (await this.page(whose, query, options))[0];
    const values = page.rows.map(([value]) => value);
    const whole = await this.sumsOf(whose, query, { ...options, slots: [], state, values });
    return { ...page, rows: page.rows.map(([value, sums]) => [value, whole.get(value) ?? sums]) };
  }

  /** Histograms are merged for the page only, after all groups were ranked by theirs. */
  private async byLatency(
    whose: Whose,
    query: UsageQuery,
    options: GroupsRequest,
    at: number,
  ): Promise<Groups> {
    const { by, direction, measures, page } = options;
    const begun = await this.begin(whose, query, { measures: ['duration_histogram'], slots: [], by });
    // Request rows are read once, as below.
    if (begun.source.table === null) return (await this.page(whose, query, options))[0];
    const ranked = await rankedByLatency(this.database, begun, { by, direction, at });
    const values = ranked.slice(page.skip, page.skip + page.take);
    const known = { by, measures, slots: [], state: begun.state, values };
    const sums = values.length === 0 ? null : await this.sumsOf(whose, query, known);
    return {
      range: begun.range,
      total: ranked.length,
      rows: values.map((value) => [value, sums?.get(value) ?? new MeasureSums({})]),
    };
  }

  private async page(
    whose: Whose,
    query: UsageQuery,
    options: GroupsRequest,
  ): Promise<[Groups, StartedQuery]> {
    const { measures, by } = options;
    const begun = await this.begin(whose, query, { measures, slots: [], by });
    const { statement, source, range } = begun;
    const order = `${postgresGroupOrder(options.orderBy)} ${options.direction} NULLS LAST, value`;
    const page = `LIMIT ${statement.bind(options.page.take)} OFFSET ${statement.bind(options.page.skip)}`;
    const rows = await this.database.read<Record<string, unknown> & { value: string; groups: string }>(
      `WITH groups AS MATERIALIZED (
         SELECT ${namedSql(by, 'grouped.key', source)} AS value, grouped.* FROM (${groupsSql(begun, { measures, by })}) AS grouped
       )
       SELECT *, (SELECT count(*) FROM groups) AS groups FROM groups ORDER BY ${order} ${page}`,
      statement.parameters,
    );
    const isBeyond = rows.length === 0 && options.page.skip > 0;
    const groups = {
      range,
      total: isBeyond ? await this.countOf(whose, query, options) : Number(rows[0]?.groups ?? 0),
      rows: rows.map(({ value, ...sums }) => [value, new MeasureSums(sums)] as const),
    };
    return [groups, begun];
  }

  private async sumsOf(
    whose: Whose,
    query: UsageQuery,
    options: QueryStart & Pick<GroupsRequest, 'by'>,
  ): Promise<ReadonlyMap<string, MeasureSums>> {
    const begun = await this.begin(whose, query, options);
    const rows = await this.database.read<Record<string, unknown> & { key: string }>(
      groupsSql(begun, options),
      begun.statement.parameters,
    );
    return new Map(rows.map(({ key, ...sums }) => [key, new MeasureSums(sums)]));
  }

  /** The number of groups, for a page beyond the last one: it has no rows that carry the count. */
  private async countOf(whose: Whose, query: UsageQuery, { measures, by }: GroupsRequest): Promise<number> {
    const { statement, source, from } = await this.begin(whose, query, { measures, slots: [], by });
    const [row] = await this.database.read<{ groups: string }>(
      `SELECT count(*) AS groups FROM (SELECT ${postgresGroupKey(by, statement, source)} FROM ${from} GROUP BY 1) AS grouped`,
      statement.parameters,
    );
    return Number(row?.groups ?? 0);
  }
}

const groupsSql = (
  { statement, source, from }: StartedQuery,
  { measures, by }: Pick<GroupsRequest, 'measures' | 'by'>,
): string =>
  `SELECT ${postgresGroupKey(by, statement, source)} AS key, ${source.select(measures)} FROM ${from} GROUP BY 1`;

/** Measures that the index of slices holds beside its key, so that adding them up for all values costs no more pages. */
const BESIDE_KEY: ReadonlySet<ReadMeasureName> = new Set<ReadMeasureName>(['requests', 'cost_nano_usd']);

/** Groupings whose values clients choose freely. Their keys are their displayed values. */
const hasManyValues = (by: GroupedBy): boolean =>
  by.kind === 'metadata' || (by.kind === 'dimension' && by.dimension === 'end_user');

function measuresOfOrder(order: GroupOrder): readonly ReadMeasureName[] {
  if ('latencyAt' in order) return ['duration_histogram'];
  const sums = order.per ? [order, order.per] : [order];
  return [...new Set(sums.flatMap(({ sumOf, less }) => (less ? [...sumOf, less] : sumOf)))];
}
