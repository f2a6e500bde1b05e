import { Injectable } from '@nestjs/common';
import type { Visibility } from '../../auth/permissions/visibility.js';
import type { ReadMeasureName, MeasureSums } from '../../request-log/analytics/read-measures.js';
import {
  type GroupedBy,
  type Series,
  type TimeRange,
  type UsageQuery,
  AnalyticsReader,
} from '../../request-log/analytics/usage-store.js';
import { KeyNamesReader } from '../../request-log/reading/key-names.js';
import { analyticsQueryOf, slotsOf } from './analytics-query.js';
import type { SeriesQuery } from './analytics-query.dto.js';
import { shownRange } from './analytics.service.js';
import {
  OverviewDto,
  type OverviewFiguresDto,
  type OverviewGroupDto,
  type OverviewPointDto,
  type OverviewProviderDto,
} from './overview.dto.js';

const MEASURES = [
  'requests',
  'errors',
  'refusals',
  'statuses',
  'refused_statuses',
  'input_tokens',
  'output_tokens',
  'cost_nano_usd',
  'duration_histogram',
  'first_token_histogram',
  'simple_saved_nano_usd',
  'semantic_saved_nano_usd',
] as const satisfies readonly ReadMeasureName[];

const TOP = 5;
const MOST_PROVIDERS = 50;
const SERVER_ERROR = 500;
const TOO_MANY_REQUESTS = 429;

const HOUR_MS = 3_600_000;
/** Fewer requests say little about a provider. */
const FAILING_REQUESTS_MIN = 10;
const FAILING_SHARE_MIN = 0.05;

interface OverviewPeriod {
  readonly series: Series;
  /** Starts of its points, in milliseconds. */
  readonly slots: readonly number[];
}

/** All figures of one screen in one response: a period, the previous one, and the top entries. */
@Injectable()
export class OverviewService {
  constructor(
    private readonly usage: AnalyticsReader,
    private readonly names: KeyNamesReader,
  ) {}

  async read(reach: Visibility, query: SeriesQuery): Promise<OverviewDto> {
    const asked = analyticsQueryOf(query, reach.own);
    return this.usage.together(reach, bothPeriods(asked.range), async (usage) => {
      const overview = await new OverviewReading(usage, reach, query).read(asked);
      const keys = await this.names.added(reach.organizationId, overview.top_api_keys);
      return Object.assign(overview, { top_api_keys: keys });
    });
  }
}

/** The queries of one overview. */
class OverviewReading {
  constructor(
    private readonly usage: AnalyticsReader,
    private readonly reach: Visibility,
    private readonly query: SeriesQuery,
  ) {}

  async read(asked: UsageQuery): Promise<OverviewDto> {
    const now = await this.period(asked);
    // Where only whole hours are left, more than the range is counted, and the same time must not be in both periods.
    const earlier = { ...asked, range: rangeBefore(now.series.range) };
    const [before, models, keys, users, failing] = await Promise.all([
      this.period(earlier),
      this.costliest(asked, { kind: 'dimension', dimension: 'model' }),
      this.costliest(asked, { kind: 'id', dimension: 'api_key_id' }),
      this.costliest(asked, { kind: 'dimension', dimension: 'end_user' }),
      this.failing({ ...asked, range: lastHourOf(asked.range) }),
    ]);
    return {
      object: 'analytics-overview',
      range: shownRange(now.series.range),
      previous_range: shownRange(before.series.range),
      summary: figuresOf(now.series.total),
      previous_summary: figuresOf(before.series.total),
      data_points: pointsOf(now),
      previous_points: pointsOf(before),
      top_models: models,
      top_api_keys: keys,
      top_users: users,
      top_errors: mostFrequentErrors(now.series.total),
      failing_providers: failing,
    };
  }

  private async period(asked: UsageQuery): Promise<OverviewPeriod> {
    const slots = slotsOf(this.query, asked.range);
    return { slots, series: await this.usage.series(this.reach, asked, MEASURES, slots) };
  }

  private async costliest(asked: UsageQuery, by: GroupedBy): Promise<OverviewGroupDto[]> {
    const { rows } = await this.usage.groups(this.reach, asked, {
      by,
      measures: ['requests', 'cost_nano_usd'],
      orderBy: { sumOf: ['cost_nano_usd'] },
      direction: 'desc',
      page: { skip: 0, take: TOP },
    });
    return rows.map(([value, sums]) => ({
      value,
      requests: sums.count('requests'),
      cost: sums.cents('cost_nano_usd'),
    }));
  }

  private async failing(asked: UsageQuery): Promise<OverviewProviderDto[]> {
    const { rows } = await this.usage.groups(this.reach, asked, {
      by: { kind: 'dimension', dimension: 'provider' },
      measures: ['requests', 'errors', 'refusals', 'crashes', 'statuses', 'refused_statuses'],
      orderBy: { sumOf: ['errors'], less: 'refusals' },
      direction: 'desc',
      page: { skip: 0, take: MOST_PROVIDERS },
    });
    return rows
      .filter(([provider]) => provider !== '')
      .map(([provider, sums]) => providerOf(provider, sums))
      .filter(isFailing)
      .sort((one, other) => other.failures - one.failures);
  }
}

/** Refusals and crashes of the gateway say nothing about a provider. A lost request has the status 500. */
function providerOf(provider: string, sums: MeasureSums): OverviewProviderDto {
  const crashes = sums.count('crashes');
  const failures = sums.failures
    .map(({ status, count, refusals }): StatusCountPair => [
      status,
      count - refusals - (status === SERVER_ERROR ? crashes : 0),
    ])
    .filter(([status, count]) => count > 0 && isFailure(status));
  return {
    provider,
    requests: sums.accepted - crashes,
    failures: totalOf(failures),
    statuses: mostFrequent(failures).map(([status]) => status),
  };
}

/** What a provider answers when it fails or refuses more requests, and what the gateway answers when it cannot reach it. */
const isFailure = (status: number): boolean => status >= SERVER_ERROR || status === TOO_MANY_REQUESTS;

const isFailing = ({ requests, failures }: OverviewProviderDto): boolean =>
  requests >= FAILING_REQUESTS_MIN && failures >= requests * FAILING_SHARE_MIN;

type StatusCountPair = readonly [status: number, count: number];
type StatusCounts = readonly StatusCountPair[];

const totalOf = (counts: StatusCounts): number => counts.reduce((sum, [, count]) => sum + count, 0);

const mostFrequent = (counts: StatusCounts): StatusCounts =>
  counts.toSorted(([, one], [, other]) => other - one);

const lastHourOf = ({ from, to }: TimeRange): TimeRange => ({ from: Math.max(from, to - HOUR_MS), to });

/** A range and the one before it, each widened by the hours that it may begin and end in. */
const bothPeriods = ({ from, to }: TimeRange): TimeRange => ({
  from: 2 * from - to - 3 * HOUR_MS,
  to: to + HOUR_MS,
});

/** The range of the same length just before. */
const rangeBefore = ({ from, to }: TimeRange): TimeRange => ({ from: 2 * from - to, to: from });

/** In cents. */
const cacheSaved = (sums: MeasureSums): number =>
  sums.cents('simple_saved_nano_usd') + sums.cents('semantic_saved_nano_usd');

const figuresOf = (sums: MeasureSums): OverviewFiguresDto => ({
  requests: sums.count('requests'),
  errors: sums.count('errors'),
  refusals: sums.count('refusals'),
  tokens: sums.tokens,
  cost: sums.cents('cost_nano_usd'),
  cache_saved: cacheSaved(sums),
  latency_p50: sums.quantileMs(0.5),
  latency_p95: sums.quantileMs(0.95),
  first_token_p95: sums.firstTokenMs(0.95),
});

const pointsOf = ({ series, slots }: OverviewPeriod): OverviewPointDto[] =>
  series.slots.map((sums, index) => {
    const serverErrors = sums.failures
      .filter(({ status }) => status >= SERVER_ERROR)
      .reduce((sum, { count, refusals }) => sum + count - refusals, 0);
    const refusals = sums.count('refusals');
    return {
      timestamp: new Date(slots[index] ?? 0).toISOString(),
      requests: sums.count('requests'),
      client_errors: sums.count('errors') - refusals - serverErrors,
      server_errors: serverErrors,
      refusals,
      cost: sums.cents('cost_nano_usd'),
      cache_saved: cacheSaved(sums),
      latency_p50: sums.quantileMs(0.5),
      latency_p95: sums.quantileMs(0.95),
      first_token_p95: sums.firstTokenMs(0.95),
    };
  });

const mostFrequentErrors = (sums: MeasureSums) =>
  sums.failures
    .toSorted((one, other) => other.count - one.count)
    .slice(0, TOP)
    .map(({ status, count, refusals }) => ({ status_code: status, requests: count, refusals }));
