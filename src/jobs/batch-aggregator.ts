import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { addUsage, ensureDays } from './add-usage.js';
import { usageMinutes } from './usage-minutes.js';
import { readUsedRequests, type StoredBatch } from './used-requests.js';

/** What became of a batch. `absent`: there is none of that id, or retention already removed it. */
export type Aggregation = 'aggregated' | 'already_aggregated' | 'absent';

interface Batch extends StoredBatch {
  readonly aggregated_at: Date | null;
}

/** More than the longest batch needs; a process that hangs must not keep a batch locked. */
const LIMITS = `
  SET LOCAL statement_timeout = '60s';
  SET LOCAL idle_in_transaction_session_timeout = '30s'`;

const BATCH = 'SELECT id, min_created_at, max_created_at, aggregated_at FROM log_batches WHERE id = $1';

/**
 * Adds a stored batch of request logs to the minute rollup, exactly once.
 *
 * The rows of a batch never change, so they are summed up before anything is locked. Then one transaction locks the
 * row of the batch, adds the sums and marks it. Whoever comes second waits for the lock and finds the mark; whoever is
 * killed on the way leaves nothing behind. So a batch may be delivered as often as it likes.
 */
@Injectable()
export class BatchAggregator {
  constructor(private readonly database: DataSource) {}

  async aggregate(batchId: string): Promise<Aggregation> {
    const batch = await find(this.database.manager, BATCH, batchId);
    if (!batch) return 'absent';
    if (batch.aggregated_at) return 'already_aggregated';
    const minutes = usageMinutes(await this.#within((manager) => readUsedRequests(manager, batch)));
    await ensureDays(this.database.manager, minutes);
    return this.#within(async (manager) => {
      const locked = await find(manager, `${BATCH} FOR UPDATE`, batchId);
      if (!locked) return 'absent';
      if (locked.aggregated_at) return 'already_aggregated';
      await addUsage(manager, minutes);
      await manager.query('UPDATE log_batches SET aggregated_at = now() WHERE id = $1', [batchId]);
      return 'aggregated';
    });
  }

  #within<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.database.transaction(async (manager) => {
      await manager.query(LIMITS);
      return work(manager);
    });
  }
}

async function find(manager: EntityManager, sql: string, batchId: string): Promise<Batch | undefined> {
  const rows: Batch[] = await manager.query(sql, [batchId]);
  return rows[0];
}
