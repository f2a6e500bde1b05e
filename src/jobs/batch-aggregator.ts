import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Queryable } from '../common/database/queryable.js';
import { addRequests, ensurePartitionsFor } from '../common/rollups/add-requests.js';
import { LOCK_TO_ADD, readSeals } from '../common/rollups/seals.js';
import { inTransaction } from '../common/rollups/transaction.js';

/** What became of a batch. `absent`: there is none of that id, or retention already removed it. */
export type Aggregation = 'aggregated' | 'already_aggregated' | 'absent';

interface Batch {
  readonly id: string;
  readonly min_created_at: Date;
  readonly max_created_at: Date;
  readonly aggregated_at: Date | null;
}

const BATCH = 'SELECT id, min_created_at, max_created_at, aggregated_at FROM log_batches WHERE id = $1';

/**
 * The requests of a batch. `created_at` limits the search to the partitions that hold them; the bounds are a
 * millisecond wider than what the driver gave, because it drops the microseconds.
 */
const OF_BATCH = `batch_id = $1
  AND created_at BETWEEN $2::timestamptz - interval '1 ms' AND $3::timestamptz + interval '1 ms'`;

const DAYS_OF_BATCH = `SELECT DISTINCT date_trunc('day', created_at, 'UTC') AS day FROM request_logs WHERE ${OF_BATCH}`;

/**
 * Adds a stored batch of request logs to the rollups, exactly once.
 *
 * One transaction locks the row of the batch, adds its requests and marks it. Whoever comes second waits for the lock
 * and finds the mark; whoever is killed on the way leaves nothing behind. So a batch may be delivered as often as it likes.
 */
@Injectable()
export class BatchAggregator {
  constructor(private readonly database: DataSource) {}

  async aggregate(batchId: string): Promise<Aggregation> {
    const batch = await find(this.database, BATCH, batchId);
    if (!batch) return 'absent';
    if (batch.aggregated_at) return 'already_aggregated';
    const requests = {
      where: OF_BATCH,
      parameters: [batch.id, batch.min_created_at, batch.max_created_at],
      first: batch.min_created_at,
      last: batch.max_created_at,
    };
    const days = await this.database.query<{ day: Date }[]>(DAYS_OF_BATCH, requests.parameters);
    await ensurePartitionsFor(
      this.database,
      await readSeals(this.database),
      days.map(({ day }) => day),
    );
    return inTransaction(this.database, async (transaction) => {
      await transaction.query(LOCK_TO_ADD);
      const locked = await find(transaction, `${BATCH} FOR UPDATE`, batchId);
      if (!locked) return 'absent';
      if (locked.aggregated_at) return 'already_aggregated';
      await addRequests(transaction, await readSeals(transaction), requests);
      await transaction.query('UPDATE log_batches SET aggregated_at = now() WHERE id = $1', [batchId]);
      return 'aggregated';
    });
  }
}

async function find(database: Queryable, sql: string, batchId: string): Promise<Batch | undefined> {
  const [row] = await database.query<Batch>(sql, [batchId]);
  return row;
}
