import type { DataSource } from 'typeorm';
import { countOnce } from '../count-once.js';
import type { Aggregation, BatchAggregator } from '../usage-store.js';
import type { ClickHouse } from './clickhouse.js';
import { rowsOfBatch } from './request-row.js';

/**
 * Stores the requests of a batch in ClickHouse, where views count them. The batch's id is the token of the insert: a
 * process that dies between the insert and the mark leaves a batch that is delivered again, and stored once all the same.
 */
export class ClickHouseBatchAggregator implements BatchAggregator {
  constructor(
    private readonly database: DataSource,
    private readonly clickhouse: ClickHouse,
  ) {}

  aggregate(batchId: string): Promise<Aggregation> {
    return countOnce(this.database, batchId, {
      add: async (transaction, batch) =>
        this.clickhouse.insert('request_logs', await rowsOfBatch(transaction, batch), batch.id),
    });
  }
}
