import type { DataSource } from 'typeorm';

/** Work that this process holds. A later claim changes `run`. */
export interface HeldRow {
  readonly id: string;
  readonly run: number;
}

/** What a table of work needs. */
interface LeaseRules {
  readonly table: string;
  /** Longer than a step takes. Work that a dead process holds is released after this time. */
  readonly leaseS: number;
  /** A further condition for work that may continue, which begins with AND. */
  readonly while?: string;
}

const PAUSE_S = 3;

/** The rows of a table of work that nobody holds, the oldest first. Parameter: their maximum number. */
export const waitingRows = (table: string): string => `
  SELECT id FROM ${table}
  WHERE status = 'in_progress' AND (leased_until IS NULL OR leased_until < now())
  ORDER BY updated_at LIMIT $1`;

/**
 * The rows of a table of work, each changed only by the process that holds its lease. The table has the columns `id`, `status`, `problem`,
 * `run`, `tries`, `leased_until` and `updated_at`. All changes return false when the lease is lost or the work was stopped: then nothing is
 * written.
 */
export class LeasedRows {
  protected readonly held: string;
  protected readonly lease: string;

  constructor(
    private readonly database: DataSource,
    private readonly rules: LeaseRules,
  ) {
    this.held = `id = $1 AND run = $2 AND status = 'in_progress'${rules.while ?? ''}`;
    this.lease = `leased_until = now() + make_interval(secs => ${rules.leaseS})`;
  }

  fail(row: HeldRow, problem: string): Promise<boolean> {
    return this.change(
      row,
      "status = 'failed', problem = $3, leased_until = NULL, updated_at = now()",
      problem,
    );
  }

  renew(row: HeldRow): Promise<boolean> {
    return this.change(row, this.lease);
  }

  release(row: HeldRow): Promise<boolean> {
    return this.change(row, 'leased_until = NULL');
  }

  /** A failure is retried after a delay that grows with the attempts. `problem` is shown until an attempt succeeds. */
  pause(row: HeldRow, problem: string): Promise<boolean> {
    const set = `leased_until = now() + make_interval(secs => ${PAUSE_S} * tries), problem = $3, updated_at = now()`;
    return this.change(row, set, problem);
  }

  /** Undefined when another process has it, or there is nothing left to do. */
  protected async claimRow<Row>(id: string, columns: string): Promise<Row | undefined> {
    const { table, while: alive = '' } = this.rules;
    const [[row]] = await this.database.query<[Row[], number]>(
      `UPDATE ${table} SET ${this.lease}, run = run + 1, tries = tries + 1
       WHERE id = $1 AND status = 'in_progress' AND (leased_until IS NULL OR leased_until < now())${alive}
       RETURNING ${columns}`,
      [id],
    );
    return row;
  }

  /** `set`: assignments, whose parameters begin with $3. */
  protected async change({ id, run }: HeldRow, set: string, ...more: readonly unknown[]): Promise<boolean> {
    const sql = `UPDATE ${this.rules.table} SET ${set} WHERE ${this.held} RETURNING id`;
    const [changed] = await this.database.query<[unknown[], number]>(sql, [id, run, ...more]);
    return changed.length > 0;
  }
}
