import type { DataSource } from 'typeorm';
import type { ClickHouse } from '../../request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE_BODIES, ClickHouseBodies } from '../../request-log/bodies/clickhouse-bodies.js';
import type { Consignment, LogDestination } from './log-sink.js';

/**
 * Copies bodies to ClickHouse. PostgreSQL keeps its own until their whole day has been copied (`drop-copied-bodies.ts`), so an unavailable
 * ClickHouse loses none.
 */
export class ClickHouseBodySink implements LogDestination {
  readonly id = CLICKHOUSE_BODIES;
  readonly gathering = { rows: 1_000, seconds: 10 };
  private readonly copies: ClickHouseBodies;

  constructor(
    private readonly database: DataSource,
    clickhouse: ClickHouse,
  ) {
    this.copies = new ClickHouseBodies(clickhouse);
  }

  /** Batches that were copied before the process died are found in ClickHouse and skipped. */
  async deliver({ batches }: Consignment, signal: AbortSignal): Promise<void> {
    for (const batch of batches) {
      signal.throwIfAborted();
      await this.copies.copy(this.database, batch);
    }
  }

  /** The client is shared. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
