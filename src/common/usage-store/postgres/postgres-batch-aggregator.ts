import type { DataSource } from 'typeorm';
import { addRequests, ensurePartitionsFor } from '../../rollups/add-requests.js';
import { readSeals } from '../../rollups/seals.js';
import { boundsOf, countOnce, OF_BATCH, type StoredBatch } from '../count-once.js';
import type { Aggregation, BatchAggregator } from '../usage-store.js';

const DAYS_OF_BATCH = `SELECT DISTINCT date_trunc('day', created_at, 'UTC') AS day FROM request_logs WHERE ${OF_BATCH}`;

/** Adds a stored batch of request logs to the rollups of PostgreSQL, in the transaction that marks it. */
export class PostgresBatchAggregator implements BatchAggregator {
  constructor(private readonly database: DataSource) {}

  aggregate(batchId: string): Promise<Aggregation> {
    return countOnce(this.database, batchId, {
      prepare: (batch) => this.#prepare(batch),
      add: async (transaction, batch) =>
        addRequests(transaction, await readSeals(transaction), {
          where: OF_BATCH,
          parameters: boundsOf(batch),
          first: batch.min_created_at,
          last: batch.max_created_at,
        }),
    });
  }

  async #prepare(batch: StoredBatch): Promise<void> {
    const days = await this.database.query<{ day: Date }[]>(DAYS_OF_BATCH, [...boundsOf(batch)]);
    await ensurePartitionsFor(
      this.database,
      await readSeals(this.database),
      days.map(({ day }) => day),
    );
  }
}
