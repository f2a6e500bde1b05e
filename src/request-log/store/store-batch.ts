import type { Pool, PoolClient } from 'pg';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import type { SpoolPosition } from '../spool/spool-files.js';
import { chargeLimits } from './charge-limits.js';
import { UnfitValueError } from './copy-binary.js';
import { copyRows } from './copy-rows.js';
import { type DeadLetter, keepDeadLetters, reduced } from './dead-letters.js';
import type { NewLogRow } from './log-row.js';

/** Rows read from one writer's spool between two positions. */
export interface BatchToStore {
  readonly writerId: string;
  /** The expected cursor; null when none may exist yet. */
  readonly from: SpoolPosition | null;
  readonly to: SpoolPosition;
  readonly rows: readonly NewLogRow[];
}

/** The outcome of a batch. `batchId` is null when no row was new. */
export interface StoredBatch {
  readonly batchId: string | null;
  readonly rows: number;
  readonly duplicates: number;
  readonly poison: number;
}

const UNIQUE_VIOLATION = '23505';

/**
 * Stores a batch in one transaction: rows, attempts, bodies, the batch row, and the cursor.
 *
 * The cursor moves first, and only from the position that the caller expects. That locks its row, so two shippers that read the same bytes
 * cannot both commit them: the second waits, finds the cursor moved and gets null. Rejects when the database is unavailable or refuses;
 * nothing is stored then, unless the response to COMMIT was lost, so the caller must read the cursor again after every failure.
 */
export function storeBatch(pool: Pool, batch: BatchToStore): Promise<StoredBatch | null> {
  const take = async (client: PoolClient) => ((await moveCursor(client, batch)) ? batch.rows : null);
  return storeTaken(pool, { writerId: batch.writerId, take });
}

/** Rows that are removed from their source in the same transaction that stores them. */
export interface Batch {
  /** Identifies the source in dead letters. */
  readonly writerId: string;
  /** Null when there are none. Rolled back together with the batch. */
  readonly take: (client: PoolClient) => Promise<readonly NewLogRow[] | null>;
}

/** Stores the taken rows, in one transaction with the taking. Null when there were none; nothing changed then. */
export async function storeTaken(pool: Pool, batch: Batch): Promise<StoredBatch | null> {
  const client = await pool.connect();
  let failure: Error | undefined;
  client.on('error', ignore);
  try {
    return await withDeadline(inTransaction(client, batch));
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.off('error', ignore);
    // A failed connection is closed, which rolls back its transaction.
    client.release(failure);
  }
}

async function inTransaction(client: PoolClient, batch: Batch): Promise<StoredBatch | null> {
  await client.query(BEGIN);
  const rows = await batch.take(client);
  const stored = rows ? await new BatchStore(client).store(rows, batch.writerId) : null;
  await client.query(stored ? 'COMMIT' : 'ROLLBACK');
  return stored;
}

/** The server cancels slow statements, but a vanished server cancels nothing. */
const ANSWER_WITHIN_MS = 90_000;

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The database did not respond.')), ANSWER_WITHIN_MS);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
    // After the deadline, the abandoned work may fail later; its error is ignored.
    work.catch(ignore);
  }
}

/** The cursor of a writer; null when nothing of it was stored. */
export async function readCursor(pool: Pool, writerId: string): Promise<SpoolPosition | null> {
  const { rows } = await withDeadline(
    pool.query<{ segment: number; position: string }>(
      'SELECT segment, position FROM spool_cursors WHERE writer_id = $1',
      [writerId],
    ),
  );
  const row = rows[0];
  return row ? { segment: row.segment, offset: Number(row.position) } : null;
}

/** The failing query reports the error; without a listener, the event would end the process. */
const ignore = (): void => undefined;

/**
 * A process paused within the transaction must not hold the cursor indefinitely. The spool is deleted after the commit, so the commit must
 * be durable whatever the server's default is.
 */
const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '15s'; SET LOCAL lock_timeout = '20s';
  SET LOCAL statement_timeout = '60s'; SET LOCAL synchronous_commit = on`;

async function moveCursor(client: PoolClient, { writerId, from, to }: BatchToStore): Promise<boolean> {
  const moved = from
    ? await client.query(
        `UPDATE spool_cursors SET segment = $2, position = $3, updated_at = now()
         WHERE writer_id = $1 AND segment = $4 AND position = $5`,
        [writerId, to.segment, to.offset, from.segment, from.offset],
      )
    : await client.query(
        'INSERT INTO spool_cursors (writer_id, segment, position) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [writerId, to.segment, to.offset],
      );
  return moved.rowCount === 1;
}

/** Stores the rows of one batch within its transaction. */
class BatchStore {
  private readonly batchId = uuidV7(Date.now());
  private readonly stored: NewLogRow[] = [];
  private readonly letters: DeadLetter[] = [];
  private duplicates = 0;

  constructor(private readonly client: PoolClient) {}

  async store(rows: readonly NewLogRow[], writerId: string): Promise<StoredBatch> {
    await this.add(rows);
    await keepDeadLetters(this.client, writerId, this.letters);
    if (this.stored.length > 0) await this.addBatch();
    // Last, because it locks counters that gateway processes wait for.
    await chargeLimits(this.client, this.stored);
    return {
      batchId: this.stored.length > 0 ? this.batchId : null,
      rows: this.stored.length,
      duplicates: this.duplicates,
      poison: this.letters.length,
    };
  }

  /** Stores all rows at once; if one is refused, splits them in halves until the faulty row is isolated. The others are stored. */
  private async add(rows: readonly NewLogRow[]): Promise<void> {
    if (rows.length === 0) return;
    const refusal = await this.tryToCopy(rows);
    if (!refusal) {
      this.stored.push(...rows);
      return;
    }
    if (codeOf(refusal) === UNIQUE_VIOLATION) {
      const fresh = await this.withoutKnown(rows);
      this.duplicates += rows.length - fresh.length;
      if (fresh.length < rows.length) return this.add(fresh);
    }
    if (rows.length === 1) return this.keepRefused(rows[0] as NewLogRow, refusal);
    const middle = rows.length >> 1;
    await this.add(rows.slice(0, middle));
    await this.add(rows.slice(middle));
  }

  /** Returns why the rows themselves were refused; rejects on any other failure. */
  private async tryToCopy(rows: readonly NewLogRow[]): Promise<Error | null> {
    await this.client.query('SAVEPOINT copying');
    try {
      await copyRows(this.client, rows, this.batchId);
      await this.client.query('RELEASE SAVEPOINT copying');
      return null;
    } catch (error) {
      if (!isFaultOfRows(error)) throw error;
      await this.client.query('ROLLBACK TO SAVEPOINT copying; RELEASE SAVEPOINT copying');
      return error;
    }
  }

  /** Stores the complete row as a dead letter, and in the tables what they can hold of it. */
  private async keepRefused(row: NewLogRow, refusal: Error): Promise<void> {
    this.letters.push({ row, sqlstate: codeOf(refusal) ?? null, reason: refusal.message });
    const rest = reduced(row);
    if ((await this.tryToCopy([rest])) === null) this.stored.push(rest);
  }

  /** Without rows that are already stored, and without duplicate ids. */
  private async withoutKnown(rows: readonly NewLogRow[]): Promise<NewLogRow[]> {
    const times = rows.map(({ record }) => record.created_at);
    const { rows: known } = await this.client.query<{ id: string }>(
      `SELECT id FROM request_logs
       WHERE id = ANY($1::uuid[]) AND created_at BETWEEN to_timestamp($2) AND to_timestamp($3)`,
      [rows.map(({ record }) => record.id), Math.min(...times) / 1000 - 1, Math.max(...times) / 1000 + 1],
    );
    const seen = new Set(known.map(({ id }) => id));
    return rows.filter(({ record }) => !seen.has(record.id) && seen.add(record.id));
  }

  private async addBatch(): Promise<void> {
    const times = this.stored.map(({ record }) => record.created_at);
    await this.client.query(
      `INSERT INTO log_batches (id, rows, min_created_at, max_created_at) VALUES ($1, $2, $3, $4)`,
      [this.batchId, this.stored.length, new Date(Math.min(...times)), new Date(Math.max(...times))],
    );
  }
}

/**
 * Data exceptions, violated constraints and exceeded limits (an index entry too long) are caused by a row; all other errors are the
 * database's own and temporary. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const FAULTS_OF_ROWS = new Set(['22', '23', '54']);

function isFaultOfRows(error: unknown): error is Error {
  return error instanceof UnfitValueError || FAULTS_OF_ROWS.has(codeOf(error)?.slice(0, 2) ?? '');
}

function codeOf(error: unknown): string | undefined {
  return (error as { readonly code?: string }).code;
}
