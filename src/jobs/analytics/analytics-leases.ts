import type { DataSource } from 'typeorm';
import type { AnalyticsJob } from '../../admin/analytics/jobs/analytics-job.entity.js';
import type { Queryable } from '../../database/queryable.js';
import { type HeldRow, LeasedRows } from '../leased-rows.js';

/** A job whose groups this process is counting. */
export interface ClaimedAnalyticsJob
  extends
    HeldRow,
    Pick<
      AnalyticsJob,
      'organizationId' | 'workspaceId' | 'seesOnlyOf' | 'query' | 'fromAt' | 'toAt' | 'cursorAt'
    > {
  readonly tries: number;
  /** Milliseconds until the job must have finished. */
  readonly leftMs: number;
}

/** Longer than a part takes, which its statement timeout ends. */
export const ANALYTICS_LEASE_S = 20;
/** How long a finished job is kept. */
export const KEPT_MINUTES = 10;

const CLAIMED = `id, run, tries, organization_id AS "organizationId", workspace_id AS "workspaceId", sees_only_of AS "seesOnlyOf",
  query, from_at AS "fromAt", to_at AS "toAt", cursor_at AS "cursorAt",
  (extract(epoch FROM expires_at - now()) * 1000)::float8 AS "leftMs"`;

const OVER = `leased_until = NULL, updated_at = now(), expires_at = now() + make_interval(mins => ${KEPT_MINUTES})`;

/** The rows of `analytics_jobs`, changed only while the lease is held and the job has not expired. */
export class AnalyticsLeases extends LeasedRows {
  constructor(database: DataSource) {
    super(database, { table: 'analytics_jobs', leaseS: ANALYTICS_LEASE_S, while: ' AND expires_at > now()' });
  }

  /** Null when another process has it, or there is nothing left to do. */
  async claim(id: string): Promise<ClaimedAnalyticsJob | null> {
    return (await this.claimRow<ClaimedAnalyticsJob>(id, CLAIMED)) ?? null;
  }

  /**
   * In the transaction that adds a part: moves the cursor over it. False when the lease is lost or the part is counted; then the caller adds
   * nothing.
   */
  async advance(
    transaction: Queryable,
    { id, run }: HeldRow,
    part: { readonly from: Date; readonly to: Date; readonly isExact: boolean },
  ): Promise<boolean> {
    const [changed = []] = await transaction.query<unknown[]>(
      `UPDATE analytics_jobs SET ${this.lease}, tries = 0, problem = NULL, updated_at = now(), cursor_at = $4, is_exact = is_exact AND $5
       WHERE ${this.held} AND cursor_at = $3 RETURNING id`,
      [id, run, part.from, part.to, part.isExact],
    );
    return changed.length > 0;
  }

  succeed(job: HeldRow): Promise<boolean> {
    return this.change(job, `status = 'success', problem = NULL, ${OVER}`);
  }

  override fail(job: HeldRow, problem: string): Promise<boolean> {
    return this.change(job, `status = 'failed', problem = $3, ${OVER}`, problem);
  }
}
