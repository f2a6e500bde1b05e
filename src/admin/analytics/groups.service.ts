import { Inject, Injectable } from '@nestjs/common';
import type { Visibility } from '../../auth/permissions/visibility.js';
import { AppError } from '../../common/errors/app-error.js';
import { pageOf } from '../../common/http/page.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { canBeTotalled, readTotals } from '../../request-log/analytics/postgres/group-totals.js';
import type { ReadMeasureName, MeasureSums } from '../../request-log/analytics/read-measures.js';
import {
  AnalyticsReader,
  type Groups,
  type GroupsRequest,
  type UsageQuery,
} from '../../request-log/analytics/usage-store.js';
import { KeyNamesReader } from '../../request-log/reading/key-names.js';
import { LogDatabase } from '../../request-log/reading/log-database.js';
import type { AnalyticsJob } from './jobs/analytics-job.entity.js';
import { AnalyticsJobs, type AnalyticsJobScope } from './jobs/analytics-jobs.service.js';
import { countedRequests } from './jobs/counted-requests.js';
import { analyticsQueryOf, filtersBesideRange } from './analytics-query.js';
import type { GroupsQuery } from './analytics-query.dto.js';
import { type ShownRange, shownRange } from './analytics.service.js';
import { FeedbackReader } from './feedback-reader.js';
import {
  type ColumnName,
  groupColumn,
  type Grouping,
  groupingOf,
  GROUPINGS,
  metadataKeyIn,
} from './groups.js';

export interface GroupsAnswer {
  readonly object: 'list';
  readonly range: ShownRange;
  readonly total: number;
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

/** What a caller may see of the request log. */
export type AnalyticsReach = Visibility & AnalyticsJobScope;

/** What is shown of groups. */
type GroupsView = Pick<GroupsQuery, 'columns' | 'order_by' | 'order_by_type' | 'current_page' | 'page_size'>;

/** The groups of a query, or the job that counts them. */
export type GroupsOutcome =
  | { readonly groups: GroupsAnswer; readonly job?: never }
  | { readonly groups?: never; readonly job: AnalyticsJob };

/** Groups of requests. Those that read too many request rows for one query are counted by a job. */
@Injectable()
export class GroupsService {
  constructor(
    private readonly usage: AnalyticsReader,
    private readonly feedback: FeedbackReader,
    private readonly names: KeyNamesReader,
    private readonly jobs: AnalyticsJobs,
    private readonly database: LogDatabase,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'analyticsDirectRows'>,
  ) {}

  /** `groupBy` as in the path, below `/v1/analytics/groups/`. */
  async read(reach: AnalyticsReach, query: GroupsQuery, groupBy: string): Promise<GroupsOutcome> {
    const grouping = this.groupingOf(groupBy);
    const usageQuery = analyticsQueryOf(query, reach.own);
    const request = groupsRequestOf(grouping, query);
    const direct = await this.usage.together(reach, usageQuery.range, async (reader) => {
      const estimate = canBeTotalled(request.by)
        ? await reader.estimatedRows(reach, usageQuery, request.by)
        : null;
      return estimate ?? reader.groups(reach, usageQuery, request);
    });
    const shown = (groups: Groups): Promise<GroupsAnswer> =>
      this.shown([reach, usageQuery], groups, query, groupBy);
    if (typeof direct !== 'number') return { groups: await shown(direct) };
    const hasPercentiles = request.measures.includes('duration_histogram');
    const identity = JSON.stringify([groupBy, hasPercentiles, Object.entries(query.filters).sort()]);
    const known = await this.jobs.find(reach, identity);
    if (known)
      return known.status === 'success' ? { groups: await this.ofJob(known, query) } : { job: known };
    if (direct <= this.settings.analyticsDirectRows) {
      const groups = await unlessTooSlow(this.usage.groups(reach, usageQuery, request));
      if (groups) return { groups: await shown(groups) };
    }
    const job = await this.jobs.start(reach, identity, {
      query: {
        groupBy,
        by: grouping.by,
        hasPercentiles,
        filters: filtersBesideRange(query),
        view: viewOf(query),
      },
      range: usageQuery.range,
    });
    return { job };
  }

  /** The response of the request that started the job; null until it is counted. */
  async resultOf(job: AnalyticsJob): Promise<GroupsAnswer | null> {
    return job.status === 'success' ? this.ofJob(job, job.query.view as GroupsView) : null;
  }

  private groupingOf(groupBy: string): Grouping {
    const grouping = groupingOf(groupBy);
    if (grouping) return grouping;
    throw new AppError('invalid_request', {
      detail: `Requests can be grouped by ${Object.keys(GROUPINGS).join(', ')}, and by metadata/<key>.`,
    });
  }

  private async ofJob(job: AnalyticsJob, view: GroupsView): Promise<GroupsAnswer> {
    const [reach, usageQuery] = countedRequests(job);
    const totals = await readTotals(this.database, job, orderOf(view));
    const range = { ...usageQuery.range, isExact: job.isExact };
    return this.shown([reach, usageQuery], { range, ...totals }, view, job.query.groupBy);
  }

  private async shown(
    [reach, usageQuery]: readonly [Visibility, UsageQuery],
    { total, rows, range }: Groups,
    view: GroupsView,
    groupBy: string,
  ): Promise<GroupsAnswer> {
    const grouping = this.groupingOf(groupBy);
    const columns = view.columns ?? grouping.columns;
    const values = rows.map(([value]) => value);
    const beside = await this.beside([reach, usageQuery], groupBy, values);
    const data = rows.map(([value, sums]) => ({
      [grouping.field]: value,
      ...beside(value),
      ...Object.fromEntries(columns.map((name) => [name, cell(grouping, name, sums)])),
      object: 'analytics-group',
    }));
    return { object: 'list', range: shownRange(range), total, data };
  }

  /** The fields of a group that are not counted: the name of an API key, and the feedback on requests with a metadata value. */
  private async beside(
    [reach, usageQuery]: readonly [Visibility, UsageQuery],
    groupBy: string,
    values: readonly string[],
  ): Promise<(value: string) => object> {
    const key = metadataKeyIn(groupBy);
    if (key !== null) {
      const feedback = await this.feedback.byMetadata(reach, usageQuery, { key, values });
      return (value) => feedback.get(value) ?? NO_FEEDBACK;
    }
    if (groupBy !== 'api_key') return () => ({});
    const names = await this.names.of(reach.organizationId, values);
    return (value) => ({ api_key_name: names.get(value) ?? null });
  }
}

const NO_FEEDBACK = { avg_weighted_feedback: 0, requests_with_feedback: 0 } as const;

const viewOf = ({ columns, order_by, order_by_type, current_page, page_size }: GroupsView): GroupsView => ({
  ...(columns ? { columns } : {}),
  ...{ order_by, order_by_type, current_page, page_size },
});

const groupsRequestOf = ({ by, columns }: Grouping, view: GroupsView): GroupsRequest => ({
  by,
  measures: measuresOf([...(view.columns ?? columns), view.order_by]),
  ...orderOf(view),
});

const orderOf = (view: GroupsView) => ({
  orderBy: groupColumn(view.order_by).order,
  direction: view.order_by_type,
  page: pageOf(view),
});

/** Null if the database ended the query. */
async function unlessTooSlow<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && error.code === 'query_timeout') return null;
    throw error;
  }
}

/** Averages are per request, so groups also need the number of requests. */
const measuresOf = (columns: readonly ColumnName[]): readonly ReadMeasureName[] => [
  ...new Set(columns.flatMap((name) => groupColumn(name).measures)).add('requests'),
];

function cell(grouping: Grouping, name: ColumnName, sums: MeasureSums): unknown {
  const value = groupColumn(name).value(sums);
  return grouping.asText?.includes(name) ? String(value) : value;
}
