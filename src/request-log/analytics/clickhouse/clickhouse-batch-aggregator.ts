import type { DataSource } from 'typeorm';
import { countOnce } from '../count-once.js';
import type { Aggregation, BatchAggregator } from '../usage-store.js';
import type { ClickHouse } from './clickhouse.js';
import { rowsOfBatch } from './request-row.js';

/**
 * Stores the requests of a batch in ClickHouse, where views count them. The batch's id is the insert's deduplication token: if a process
 * dies between insert and mark, the batch is delivered again but stored only once.
 */
export class ClickHouseBatchAggregator implements BatchAggregator {
  constructor(
    private readonly database: DataSource,
    private readonly clickhouse: ClickHouse,
  ) {}

  async aggregate(batchId: string): Promise<Aggregation> {
    const [outcome = 'absent'] = await countOnce(this.database, [batchId], {
      add: async (transaction, batches) => {
        for (const batch of batches)
          await this.clickhouse.insert('request_logs', await rowsOfBatch(transaction, batch), batch.id);
      },
    });
    return outcome;
  }
}
