import { Injectable } from '@nestjs/common';
import type { Visibility } from '../../auth/permissions/visibility.js';
import { type ReadMeasureName, ratio, type MeasureSums } from '../../request-log/analytics/read-measures.js';
import { type CountedRange, AnalyticsReader } from '../../request-log/analytics/usage-store.js';
import { analyticsQueryOf, slotsOf } from './analytics-query.js';
import type { AnalyticsQuery, SeriesQuery } from './analytics-query.dto.js';
import type { FeedbackGraph } from './feedback-graphs.js';
import { FeedbackReader } from './feedback-reader.js';
import type { Before, Graph } from './graphs.js';

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

const CACHE_MEASURES = [
  'requests',
  'simple_hits',
  'semantic_hits',
  'hit_duration_us',
  'duration_us',
] as const;

/** Charts and summaries, built from the tables that describe them. */
@Injectable()
export class AnalyticsService {
  constructor(
    private readonly usage: AnalyticsReader,
    private readonly feedback: FeedbackReader,
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
}

export const shownRange = ({ from, to, isExact }: CountedRange): ShownRange => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  is_exact: isExact,
});

function shown(fields: Graph['points'], sums: MeasureSums, before: Before): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, of]) => [name, of(sums, before)]));
}

class RunningTotals implements Before {
  private readonly totals = new Map<ReadMeasureName, number>();

  constructor(private readonly measures: readonly ReadMeasureName[]) {}

  count(name: ReadMeasureName): number {
    return this.totals.get(name) ?? 0;
  }

  add(sums: MeasureSums): void {
    for (const name of this.measures) this.totals.set(name, this.count(name) + sums.count(name));
  }
}
