import { Column, Entity } from 'typeorm';
import { OwnedAtEitherLevel } from '../../../database/tenant-owned.entity.js';
import type { GroupedBy } from '../../../request-log/analytics/usage-store.js';

export const ANALYTICS_JOB_STATUSES = ['in_progress', 'success', 'failed'] as const;
export type AnalyticsJobStatus = (typeof ANALYTICS_JOB_STATUSES)[number];

/** The request that the job counts. */
export interface AnalyticsJobQuery {
  /** As in the path: `model`, or `metadata/<key>`. */
  readonly groupBy: string;
  readonly by: GroupedBy;
  /** Whether durations are counted, which takes several times as long as all other measures. */
  readonly hasPercentiles: boolean;
  /** Without the time range. */
  readonly filters: Readonly<Record<string, string>>;
  /** The query parameters that decide what is shown of the groups: columns, order and page. */
  readonly view: object;
}

/** Groups of requests that are counted in the background. Only the background process moves the cursor and changes the status. */
@Entity('analytics_jobs')
export class AnalyticsJob extends OwnedAtEitherLevel {
  /** The user whose own traffic is counted; null for all traffic in scope. */
  @Column({ type: 'uuid', nullable: true })
  seesOnlyOf: string | null;

  /** A hash of query and scope: the same request finds its job. */
  @Column({ type: 'text' })
  identity: string;

  @Column({ type: 'jsonb' })
  query: AnalyticsJobQuery;

  @Column({ type: 'timestamptz' })
  fromAt: Date;

  /** Exclusive. */
  @Column({ type: 'timestamptz' })
  toAt: Date;

  /** Requests before this time are counted. */
  @Column({ type: 'timestamptz' })
  cursorAt: Date;

  /** False if requests of the range may have been deleted before they were counted. */
  @Column({ type: 'boolean' })
  isExact: boolean;

  @Column({ type: 'text' })
  status: AnalyticsJobStatus;

  /** Why it failed, as text for users. */
  @Column({ type: 'text', nullable: true })
  problem: string | null;

  /** A job that runs longer fails; a finished one is deleted. */
  @Column({ type: 'timestamptz' })
  expiresAt: Date;
}
