import { Injectable } from '@nestjs/common';
import type { Visibility } from '../../auth/permissions/visibility.js';
import { pageOf } from '../../common/http/page.js';
import { type ReadMeasureName, ratio, type Sums } from '../../request-log/analytics/read-measures.js';
import { KeyNamesReader } from '../../request-log/reading/key-names.js';
import { type CountedRange, AnalyticsReader } from '../../request-log/analytics/usage-store.js';
import { analyticsQueryOf, slotsOf } from './analytics-query.js';
import type { AnalyticsQuery, GroupsQuery, SeriesQuery } from './analytics-query.dto.js';
import type { FeedbackGraph } from './feedback-graphs.js';
import { FeedbackReader } from './feedback-reader.js';
import type { Before, Graph } from './graphs.js';
import { type ColumnName, columnOf, type Grouping, GROUPINGS } from './groups.js';

/** The counted time range, as shown. */
export interface ShownRange {
  readonly from: string;
  readonly to: string;
  readonly is_exact: boolean;
}

export interface GraphAnswer {
  readonly object: 'analytics-graph';
  /** Absent for feedback, which is always complete. */
  readonly range?: ShownRange;
  readonly summary: Readonly<Record<string, unknown>>;
  readonly data_points: readonly Readonly<Record<string, unknown>>[];
}

export interface GroupsAnswer {
  readonly object: 'list';
  readonly range: ShownRange;
  readonly total: number;
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

const CACHE_MEASURES = [
  'requests',
  'simple_hits',
  'semantic_hits',
  'hit_duration_us',
  'duration_us',
] as const;

/** Charts, groups and summaries, built from the tables that describe them. */
@Injectable()
export class AnalyticsService {
  constructor(
    private readonly usage: AnalyticsReader,
    private readonly feedback: FeedbackReader,
    private readonly names: KeyNamesReader,
  ) {}

  /** Every slot of the range has a point, including slots without requests. */
  async graph(reach: Visibility, query: SeriesQuery, graph: Graph): Promise<GraphAnswer> {
    const asked = analyticsQueryOf(query, reach.own);
    const slots = slotsOf(query, asked.range);
    const series = await this.usage.series(reach, asked, graph.measures, slots);
    const before = new RunningTotals(graph.measures);
    const points = series.slots.map((sums, index) => {
      const point = {
        timestamp: new Date(slots[index] ?? 0).toISOString(),
        ...shown(graph.points, sums, before),
      };
      before.add(sums);
      return point;
    });
    return {
      object: 'analytics-graph',
      range: shownRange(series.range),
      summary: shown(graph.summary, series.total, before),
      data_points: graph.entries?.(series.total) ?? points,
    };
  }

  async feedbackGraph(reach: Visibility, query: SeriesQuery, graph: FeedbackGraph): Promise<GraphAnswer> {
    const asked = analyticsQueryOf(query, reach.own);
    const slots = slotsOf(query, asked.range);
    const answer = graph.of(await this.feedback.read(reach, asked, slots), slots);
    return { object: 'analytics-graph', ...answer };
  }

  async cacheSummary(reach: Visibility, query: AnalyticsQuery): Promise<Record<string, unknown>> {
    const asked = analyticsQueryOf(query, reach.own);
    const { total, range } = await this.usage.series(reach, asked, CACHE_MEASURES, [asked.range.from]);
    const hit = ratio(total.milliseconds('hit_duration_us'), total.hits);
    const misses = total.count('requests') - total.hits;
    const missMs = total.milliseconds('duration_us') - total.milliseconds('hit_duration_us');
    return {
      object: 'analytics-summary',
      range: shownRange(range),
      summary: {
        hits: total.hits,
        avg_latency: hit,
        total_requests: total.count('requests'),
        cache_speedup: ratio(ratio(missMs, misses), hit),
      },
    };
  }

  async groups(reach: Visibility, query: GroupsQuery, grouping: Grouping): Promise<GroupsAnswer> {
    const asked = analyticsQueryOf(query, reach.own);
    const columns = query.columns ?? grouping.columns;
    const { order_by: orderBy, order_by_type: direction } = query;
    const { total, rows, range } = await this.usage.groups(reach, asked, {
      by: grouping.by,
      measures: measuresOf([...columns, orderBy]),
      orderBy: columnOf(orderBy).order,
      direction,
      page: pageOf(query),
    });
    const isOfKeys = grouping === GROUPINGS.api_key;
    const keys = isOfKeys ? rows.map(([value]) => value) : [];
    const names = await this.names.of(reach.organizationId, keys);
    const data = rows.map(([value, sums]) => ({
      [grouping.field]: value,
      ...(isOfKeys && { api_key_name: names.get(value) ?? null }),
      ...Object.fromEntries(columns.map((name) => [name, cell(grouping, name, sums)])),
      object: 'analytics-group',
    }));
    return { object: 'list', range: shownRange(range), total, data };
  }

  /** The groups of a metadata key, with the feedback on their requests. */
  async metadataGroups(
    reach: Visibility,
    query: GroupsQuery,
    grouping: Grouping,
    key: string,
  ): Promise<GroupsAnswer> {
    const answer = await this.groups(reach, query, grouping);
    const asked = analyticsQueryOf(query, reach.own);
    const values = answer.data.map((row) => String(row['metadata_value']));
    const feedback = await this.feedback.byMetadata(reach, asked, { key, values });
    return {
      ...answer,
      data: answer.data.map((row) => ({
        ...row,
        ...(feedback.get(String(row['metadata_value'])) ?? {
          avg_weighted_feedback: 0,
          requests_with_feedback: 0,
        }),
      })),
    };
  }
}

export const shownRange = ({ from, to, isExact }: CountedRange): ShownRange => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  is_exact: isExact,
});

function shown(fields: Graph['points'], sums: Sums, before: Before): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, of(sums, before)]));
}

class RunningTotals implements Before {
  readonly #totals = new Map<ReadMeasureName, number>();

  constructor(private readonly measures: readonly ReadMeasureName[]) {}

  count(name: ReadMeasureName): number {
    return this.#totals.get(name) ?? 0;
  }

  add(sums: Sums): void {
    for (const name of this.measures) this.#totals.set(name, this.count(name) + sums.count(name));
  }
}

/** Averages are per request, so groups also need the number of requests. */
const measuresOf = (columns: readonly ColumnName[]): readonly ReadMeasureName[] => [
  ...new Set(columns.flatMap((name) => columnOf(name).measures)).add('requests'),
];

function cell(grouping: Grouping, name: ColumnName, sums: Sums): unknown {
  const value = columnOf(name).value(sums);
  return grouping.asText?.includes(name) ? String(value) : value;
}
