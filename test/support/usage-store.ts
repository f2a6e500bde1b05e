import type { DataSource } from 'typeorm';
import type { ClickHouse } from '../../src/request-log/analytics/clickhouse/clickhouse.js';
import { ClickHouseBatchAggregator } from '../../src/request-log/analytics/clickhouse/clickhouse-batch-aggregator.js';
import { PostgresBatchAggregator } from '../../src/request-log/analytics/postgres/postgres-batch-aggregator.js';
import type { BatchAggregator } from '../../src/request-log/analytics/usage-store.js';

let open: () => ClickHouse | null = () => null;

/** What the suites of the usage store run on from now on: they are the contract of both stores. */
export function runOnClickHouse(opened: () => ClickHouse): void {
  let one: ClickHouse | null = null;
  open = () => (one ??= opened());
}

/** What they run on unless told otherwise: files of one process tell it for themselves alone. */
export function runOnPostgres(): void {
  open = () => null;
}

/** The ClickHouse under test; null when PostgreSQL is. */
export const clickHouseUnderTest = (): ClickHouse | null => open();

export const aggregatorOn = (database: DataSource, clickhouse: ClickHouse | null): BatchAggregator =>
  clickhouse ? new ClickHouseBatchAggregator(database, clickhouse) : new PostgresBatchAggregator(database);
