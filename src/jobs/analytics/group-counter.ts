import { countedRequests } from '../../admin/analytics/jobs/counted-requests.js';
import { POSTGRES_TIMEOUTS } from '../../common/net/store-timeouts.js';
import type { UnitOfWork } from '../../database/unit-of-work.js';
import { type AddingTotals, addingTotals } from '../../request-log/analytics/postgres/group-totals.js';
import type { PostgresUsageReader } from '../../request-log/analytics/postgres/postgres-usage-reader.js';
import type { TimeRange } from '../../request-log/analytics/usage-store.js';
import { GRANULARITY_MS, startOf } from '../../request-log/rollups/granularities.js';
import type { AnalyticsLeases, ClaimedAnalyticsJob } from './analytics-leases.js';

/** `absent`: another process counts it, or it expired. `released`: this process ends; the next one continues. */
export type CountingEnding = 'success' | 'failed' | 'absent' | 'released';

/** Why a job fails permanently, as shown to users. Other errors are temporary, and it is retried. */
class CountingProblem extends Error {}

/** A part that another process counted, or whose job expired. */
class LeaseLost extends Error {}

interface GroupCounterParts {
  readonly leases: AnalyticsLeases;
  readonly reader: PostgresUsageReader;
  readonly unitOfWork: UnitOfWork;
  readonly isStopping: () => boolean;
  /** Maximum number of groups of a job. */
  readonly groupsMax?: number;
  /** Time limit of one part. */
  readonly partMs?: number;
}

const MOST_TRIES = 5;
/** More cannot be paged through, and would fill the disk. */
const MOST_GROUPS = 100_000;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const QUERY_CANCELED = '57014';

/** As for queries of the log (`LogDatabase`), until the end of the transaction. */
const SESSION = `SELECT set_config('statement_timeout', $1, true), set_config('jit', 'off', true),
  set_config('work_mem', '32MB', true), set_config('parallel_setup_cost', '50000', true)`;
const COUNT = 'SELECT count(*)::float8 AS groups FROM analytics_job_groups WHERE job_id = $1';

/**
 * Counts the groups of a job day by day. A day that takes longer than a query may take is halved until it does not.
 *
 * A part's groups are added to the totals in the transaction that moves the job's cursor over it, and only by the process that holds the
 * lease: each request is counted once, whoever dies when. Only rows of the job's organization are visible to it.
 */
export class GroupCounter {
  constructor(private readonly parts: GroupCounterParts) {}

  async count(jobId: string): Promise<CountingEnding> {
    const claimed = await this.parts.leases.claim(jobId);
    if (!claimed) return 'absent';
    try {
      return await this.countParts(claimed);
    } catch (error) {
      return this.failed(claimed, error);
    }
  }

  private async countParts(claimed: ClaimedAnalyticsJob): Promise<CountingEnding> {
    const { leases, isStopping } = this.parts;
    const end = claimed.toAt.getTime();
    const deadline = performance.now() + claimed.leftMs;
    let from = claimed.cursorAt.getTime();
    let lengthMs: number = GRANULARITY_MS.day;
    while (from < end) {
      if (isStopping()) return (await leases.release(claimed)) ? 'released' : 'absent';
      const to = Math.min(from + lengthMs, startOf('day', from) + GRANULARITY_MS.day, end);
      const timeoutMs = Math.min(this.partMs, deadline - performance.now());
      if (await this.isAdded(claimed, { from, to }, timeoutMs)) {
        from = to;
        lengthMs *= 2;
      } else {
        lengthMs = halfOf(to - from);
        if (!(await leases.renew(claimed))) return 'absent';
      }
    }
    return (await leases.succeed(claimed)) ? 'success' : 'absent';
  }

  private get partMs(): number {
    return this.parts.partMs ?? POSTGRES_TIMEOUTS.logReading.serverMs;
  }

  /** False when the part takes too long. */
  private async isAdded(claimed: ClaimedAnalyticsJob, part: TimeRange, timeoutMs: number): Promise<boolean> {
    if (timeoutMs < 1) throw new LeaseLost('The job expired.');
    try {
      await this.add(claimed, part, Math.ceil(timeoutMs));
      return true;
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === QUERY_CANCELED) return false;
      throw error;
    }
  }

  private async add(claimed: ClaimedAnalyticsJob, part: TimeRange, timeoutMs: number): Promise<void> {
    const { unitOfWork, leases } = this.parts;
    const { organizationId } = claimed;
    const adding = await unitOfWork.runFor({ organizationId, isReading: true }, () =>
      this.adding(claimed, part),
    );
    await unitOfWork.runFor({ organizationId, isReading: false }, async () => {
      const { manager } = unitOfWork;
      const [from, to] = [new Date(part.from), new Date(part.to)];
      if (!(await leases.advance(manager, claimed, { from, to, isExact: adding.isExact })))
        throw new LeaseLost('Another process counted the part, or the job expired.');
      await manager.query(SESSION, [String(timeoutMs)]);
      await manager.query(adding.sql, [...adding.parameters]);
      await this.checkGroups(claimed);
    });
  }

  private adding(claimed: ClaimedAnalyticsJob, range: TimeRange): Promise<AddingTotals> {
    const [whose, { conditions }] = countedRequests(claimed);
    return addingTotals(this.parts.reader, { ...claimed, ...claimed.query }, whose, { range, conditions });
  }

  private async checkGroups({ id }: ClaimedAnalyticsJob): Promise<void> {
    const { groupsMax = MOST_GROUPS, unitOfWork } = this.parts;
    const [row] = await unitOfWork.manager.query<{ groups: number }[]>(COUNT, [id]);
    if (row && row.groups > groupsMax)
      throw new CountingProblem(
        `There are more than ${groupsMax} groups, which is the limit. Use a shorter time range or more filters.`,
      );
  }

  private async failed(claimed: ClaimedAnalyticsJob, error: unknown): Promise<CountingEnding> {
    const { leases } = this.parts;
    if (error instanceof LeaseLost) return 'absent';
    const problem = problemOf(claimed, error);
    if (problem !== null) return (await leases.fail(claimed, problem)) ? 'failed' : 'absent';
    await leases
      .pause(claimed, `Attempt ${claimed.tries} of ${MOST_TRIES} failed and will be retried.`)
      .catch(() => undefined);
    throw error;
  }
}

/** In whole minutes, in which ranges are counted. */
function halfOf(lengthMs: number): number {
  if (lengthMs <= GRANULARITY_MS.minute)
    throw new CountingProblem(
      'The requests of a single minute take too long to count. Use more filters, or try again when the database is less busy.',
    );
  return Math.ceil(lengthMs / 2 / GRANULARITY_MS.minute) * GRANULARITY_MS.minute;
}

function problemOf({ tries }: ClaimedAnalyticsJob, error: unknown): string | null {
  if (error instanceof CountingProblem) return error.message;
  return tries >= MOST_TRIES
    ? 'Counting failed too often without progress. The log of the service has the cause.'
    : null;
}
