import type { DataSource } from 'typeorm';

/** A cursor claimed by this process: its position, and the lease of the claim. */
export interface ClaimedCursor {
  readonly id: string;
  /** Number of the last item that the receiver confirmed. The driver returns 64-bit numbers as text. */
  readonly deliveredSeq: string;
  /** Identifies this claim; later claims have another. */
  readonly lease: string;
}

/** Tables with the columns of a cursor. */
type CursorTable = 'audit_destinations' | 'log_sinks';

/** Longer than an attempt can take. A cursor held by a process that died is released after this time. */
const LEASE = '60 seconds';
const LONGEST_PAUSE_S = 300;

/** Conditions and assignments of a claim, for tables that return further columns. */
export const CLAIMABLE =
  'next_try_at <= clock_timestamp() AND (leased_until IS NULL OR leased_until < clock_timestamp())';
export const LEASED = `leased_until = clock_timestamp() + interval '${LEASE}'`;

/**
 * Delivery progress per receiver: a number in its row, advanced only after the receiver's confirmation. So everything arrives at least
 * once; if a process dies in between, it is sent again.
 */
export class DeliveryCursors {
  private readonly delivered: string;
  private readonly failed: string;
  private readonly released: string;

  constructor(
    private readonly database: DataSource,
    table: CursorTable,
  ) {
    // It advances only from where it was read, and only forwards: a process that was taken for dead cannot move it back.
    this.delivered = `
      UPDATE ${table} SET delivered_seq = $3, delivered_at = clock_timestamp(), failures = 0, last_error = NULL,
        failing_since = NULL, next_try_at = clock_timestamp(),
        leased_until = CASE WHEN leased_until::text = $4 THEN NULL ELSE leased_until END
      WHERE id = $1 AND delivered_seq = $2`;
    this.failed = `
      UPDATE ${table} SET failures = failures + 1, last_error = $3, leased_until = NULL,
        failing_since = coalesce(failing_since, clock_timestamp()),
        next_try_at = clock_timestamp()
          + make_interval(secs => least(${LONGEST_PAUSE_S}, power(2, least(failures, 20))) * (0.5 + random() / 2))
      WHERE id = $1 AND leased_until::text = $2`;
    this.released = `UPDATE ${table} SET leased_until = NULL WHERE id = $1 AND leased_until::text = $2`;
  }

  async advance({ id, deliveredSeq, lease }: ClaimedCursor, seq: string): Promise<void> {
    await this.database.query(this.delivered, [id, deliveredSeq, seq, lease]);
  }

  /** Retried after a second, then after twice as long each time, up to five minutes. */
  async fail({ id, lease }: ClaimedCursor, reason: string): Promise<void> {
    await this.database.query(this.failed, [id, lease, reason]);
  }

  async release({ id, lease }: ClaimedCursor): Promise<void> {
    await this.database.query(this.released, [id, lease]);
  }
}
