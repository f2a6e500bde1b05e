import { Injectable } from '@nestjs/common';
import type { Reach } from '../../auth/tenant.js';
import { KeptLogs } from '../../common/database/log-reading/kept-logs.js';
import { LogDatabase } from '../../common/database/log-reading/log-database.js';
import { REQUESTS } from '../../common/database/log-reading/log-filters.js';
import type { Page } from '../../common/database/page.js';
import { LONGEST_VALUE } from '../../common/rollups/dimensions.js';
import { GRAINS, type Grain } from '../../common/rollups/grains.js';
import type { AnalyticsQuery } from './analytics-query.js';
import { cover, type RollupState } from './coverage.js';
import { type ColumnName, columnOf } from './groups.js';
import { READ_MEASURES, type ReadMeasureName, Sums } from './read-measures.js';
import { type Source, sourceFor } from './source.js';
import { Statement } from './statement.js';
import type { TimeRange } from './time-slots.js';

/** A range, cut into slots. */
export interface Series {
  readonly total: Sums;
  readonly slots: readonly Sums[];
}

export interface GroupsWish {
  /** Makes the expression that groups; what it needs to know travels as a parameter. */
  readonly value: (statement: Statement) => string;
  /** The dimension that the source must tell apart; undefined for columns of the tenant, which every source has. */
  readonly dimension: string | undefined;
  readonly columns: readonly ColumnName[];
  readonly orderBy: ColumnName;
  readonly direction: 'asc' | 'desc';
  readonly page: Page;
}

export interface Groups {
  readonly total: number;
  readonly rows: readonly (readonly [value: string, sums: Sums])[];
}

/** Counts requests for graphs and groups: out of the rollups, or of the request rows where those cannot tell. */
@Injectable()
export class UsageReader {
  constructor(
    private readonly database: LogDatabase,
    private readonly kept: KeptLogs,
  ) {}

  async series(
    reach: Reach,
    query: AnalyticsQuery,
    measures: readonly ReadMeasureName[],
    slots: readonly number[],
  ): Promise<Series> {
    const { statement, source, from } = await this.#begin(reach, query, { measures, slots });
    const starts = statement.bind(slots.map((slot) => new Date(slot)));
    const rows = await this.database.read<Record<string, unknown> & { slot: number | null }>(
      `SELECT width_bucket(at, ${starts}::timestamptz[]) AS slot, ${source.select(measures)}
       FROM ${from} GROUP BY GROUPING SETS ((1), ())`,
      statement.parameters,
    );
    const bySlot = new Map(rows.map(({ slot, ...sums }) => [slot, new Sums(sums)]));
    const nothing = new Sums({});
    return {
      total: bySlot.get(null) ?? nothing,
      slots: slots.map((_, index) => bySlot.get(index + 1) ?? nothing),
    };
  }

  /** One page, and of how many groups. The one of requests that name no value is ''; so the groups make up the whole. */
  async groups(reach: Reach, query: AnalyticsQuery, wish: GroupsWish): Promise<Groups> {
    const measures = [...new Set([...wish.columns, wish.orderBy].flatMap((name) => columnOf(name).measures))];
    if (!measures.includes('requests')) measures.push('requests');
    const { statement, source, from } = await this.#begin(reach, query, {
      measures,
      slots: [],
      groupedBy: wish.dimension,
    });
    const value = `left(coalesce((${wish.value(statement)})::text, ''), ${LONGEST_VALUE})`;
    const order = `${columnOf(wish.orderBy).order} ${wish.direction}, value`;
    const page = `LIMIT ${statement.bind(wish.page.take)} OFFSET ${statement.bind(wish.page.skip)}`;
    const groups = `SELECT ${value} AS value, ${source.select(measures)} FROM ${from} GROUP BY 1`;
    const rows = await this.database.read<Record<string, unknown> & { value: string; groups: string }>(
      `WITH groups AS MATERIALIZED (${groups})
       SELECT *, (SELECT count(*) FROM groups) AS groups FROM groups ORDER BY ${order} ${page}`,
      statement.parameters,
    );
    return {
      total: Number(rows[0]?.groups ?? 0),
      rows: rows.map(({ value, ...sums }) => [value, new Sums(sums)]),
    };
  }

  async #begin(
    reach: Reach,
    { range, conditions }: AnalyticsQuery,
    wish: BeginWish,
  ): Promise<{ statement: Statement; source: Source; from: string }> {
    const state = await this.#state(range);
    const needs = wish.measures.flatMap((name) => READ_MEASURES[name].needs ?? []);
    const source = sourceFor({
      conditions,
      needs: wish.groupedBy === undefined ? needs : [...needs, wish.groupedBy],
      metadataKeys: new Set(
        state.keys.filter((key) => key.complete_since <= range.from).map(({ key }) => key),
      ),
    });
    const statement = new Statement();
    const tenant = statement.tenant(reach);
    const part = ({ from, to }: TimeRange): string =>
      `${source.time} >= ${statement.bind(new Date(from))}::timestamptz AND ${source.time} < ${statement.bind(new Date(to))}::timestamptz`;
    const coverage = source.table ? cover(range, wish.slots, state) : null;
    const parts = coverage
      ? GRAINS.filter((grain) => coverage[grain].length > 0).map((grain) => [grain, coverage[grain]] as const)
      : [[null, [range]] as const];
    const selects = parts.map(
      ([grain, ranges]) =>
        `SELECT *, ${source.columns} FROM ${tableOf(source, grain)} WHERE ${tenant}${source.where}
         AND (${ranges.map((each) => `(${part(each)})`).join(' OR ')})`,
    );
    const kept = source.table ? [] : await this.kept.conditions(reach);
    const filters = [...conditions, ...kept].map(({ sql, parameter }) => sql(statement.bind(parameter)));
    const where = filters.length > 0 ? ` WHERE ${filters.join(' AND ')}` : '';
    return { statement, source, from: `(${selects.join(' UNION ALL ')}) AS request_logs${where}` };
  }

  /** Times as numbers: PostgreSQL's own infinities are no dates of JavaScript. */
  async #state({ from, to }: TimeRange): Promise<RollupState & { keys: readonly ChosenKey[] }> {
    const [row] = await this.database.read<StateRow>(STATE, [new Date(from), new Date(to)]);
    return {
      changedHours: new Set(row?.hours ?? []),
      changedDays: new Set(row?.days ?? []),
      minutesFrom: row?.minutes_from ?? -Infinity,
      keys: row?.keys ?? [],
    };
  }
}

interface BeginWish {
  readonly measures: readonly ReadMeasureName[];
  readonly slots: readonly number[];
  readonly groupedBy?: string | undefined;
}

interface ChosenKey {
  readonly key: string;
  readonly complete_since: number;
}

interface StateRow {
  readonly hours: readonly number[] | null;
  readonly days: readonly number[] | null;
  readonly minutes_from: number | null;
  readonly keys: readonly ChosenKey[] | null;
}

const ms = (column: string): string =>
  `(CASE WHEN isfinite(${column}) THEN extract(epoch FROM ${column}) * 1000 ELSE 0 END)::float8`;

const marksOf = (grain: string): string =>
  `(SELECT array_agg(${ms('bucket')}) FROM rollup_marks WHERE grain = '${grain}'
    AND bucket > $1::timestamptz - interval '1 day' AND bucket < $2::timestamptz)`;

const STATE = `SELECT ${marksOf('hour')} AS hours, ${marksOf('day')} AS days,
  (SELECT ${ms('before')} FROM rollup_seals WHERE grain = 'minute') AS minutes_from,
  (SELECT jsonb_agg(jsonb_build_object('key', key, 'complete_since', ${ms('complete_since')}))
   FROM rollup_metadata_keys) AS keys`;

const tableOf = (source: Source, grain: Grain | null): string =>
  source.table && grain ? source.table(grain) : REQUESTS;
