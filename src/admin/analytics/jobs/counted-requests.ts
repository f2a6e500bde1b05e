import { ownTraffic, type Visibility } from '../../../auth/permissions/visibility.js';
import type { UsageQuery } from '../../../request-log/analytics/usage-store.js';
import { conditionOfParameter } from '../../../request-log/reading/log-filters.js';
import type { AnalyticsJob } from './analytics-job.entity.js';

type CountedJob = Pick<
  AnalyticsJob,
  'organizationId' | 'workspaceId' | 'seesOnlyOf' | 'query' | 'fromAt' | 'toAt'
>;

/** The requests that a job counts: its scope, its range and its filters. */
export function countedRequests({
  organizationId,
  workspaceId,
  seesOnlyOf,
  ...job
}: CountedJob): readonly [Visibility, UsageQuery] {
  const own = seesOnlyOf === null ? [] : [ownTraffic(seesOnlyOf)];
  const filters = Object.entries(job.query.filters);
  const conditions = filters.flatMap(([name, value]) => conditionOfParameter(name, value) ?? []);
  return [
    { organizationId, ...(workspaceId === null ? {} : { workspaceId }), own },
    {
      range: { from: job.fromAt.getTime(), to: job.toAt.getTime() },
      conditions: [...own, ...conditions],
    },
  ];
}
