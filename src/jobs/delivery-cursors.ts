import type { DataSource } from 'typeorm';

/** Something that this process has in hand: how far it has come, and which claim this is. */
export interface ClaimedCursor {
  readonly id: string;
  /** Number of the last thing that the receiver has taken. The driver gives 64-bit numbers as text. */
  readonly deliveredSeq: string;
  /** Names this claim: a later one is another. */
  readonly lease: string;
}

/** Tables with the columns of a cursor. */
type CursorTable = 'audit_destinations' | 'log_sinks';

/** Longer than a try can take. A process that dies holding a cursor gives it back so much later. */
const LEASE = '60 seconds';
const LONGEST_PAUSE_S = 300;

/** Conditions and assignments of a claim, for the tables that have more to tell with it. */
export const CLAIMABLE =
  'next_try_at <= clock_timestamp() AND (leased_until IS NULL OR leased_until < clock_timestamp())';
export const LEASED = `leased_until = clock_timestamp() + interval '${LEASE}'`;

/**
 * How far each receiver has come: a number in its row, moved on after the receiver's word and never before. So what is
 * sent arrives at least once; a process that dies between the two lets it be sent again.
 */
export class DeliveryCursors {
  readonly #delivered: string;
  readonly #failed: string;
  readonly #released: string;

  constructor(
    private readonly database: DataSource,
    table: CursorTable,
  ) {
    // It moves from where it was read, and forwards only: a process that was thought dead cannot take it back.
    this.#delivered = `
      UPDATE ${table} SET delivered_seq = $3, delivered_at = clock_timestamp(), failures = 0, last_error = NULL,
        failing_since = NULL, next_try_at = clock_timestamp(),
        leased_until = CASE WHEN leased_until::text = $4 THEN NULL ELSE leased_until END
      WHERE id = $1 AND delivered_seq = $2`;
    this.#failed = `
      UPDATE ${table} SET failures = failures + 1, last_error = $3, leased_until = NULL,
        failing_since = coalesce(failing_since, clock_timestamp()),
        next_try_at = clock_timestamp()
          + make_interval(secs => least(${LONGEST_PAUSE_S}, power(2, least(failures, 20))) * (0.5 + random() / 2))
      WHERE id = $1 AND leased_until::text = $2`;
    this.#released = `UPDATE ${table} SET leased_until = NULL WHERE id = $1 AND leased_until::text = $2`;
  }

  async advance({ id, deliveredSeq, lease }: ClaimedCursor, seq: string): Promise<void> {
    await this.database.query(this.#delivered, [id, deliveredSeq, seq, lease]);
  }

  /** Tried again after a second, then after twice as long each time, up to five minutes. */
  async fail({ id, lease }: ClaimedCursor, reason: string): Promise<void> {
    await this.database.query(this.#failed, [id, lease, reason]);
  }

  async release({ id, lease }: ClaimedCursor): Promise<void> {
    await this.database.query(this.#released, [id, lease]);
  }
}
