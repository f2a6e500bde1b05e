import type { Pool } from 'pg';
import type { Logger } from '../../common/observability/logger.js';
import { ensureLogPartitions, type PartitionReport } from './partitions.js';

/**
 * The hourly round of the worker: creates partitions for the coming days, and warns about rows in a default partition. Partitions are
 * created days ahead, so a failed round does no harm.
 */
export async function maintainPartitions(pool: Pool, logger: Logger): Promise<PartitionReport> {
  const report = await inTransaction(pool);
  if (report.strays.length > 0 || report.blocked.length > 0)
    logger.warn(
      report,
      'Rows are in the default partition of the request log, where retention cannot drop them.',
    );
  return report;
}

async function inTransaction(pool: Pool): Promise<PartitionReport> {
  const client = await pool.connect();
  let failure: Error | undefined;
  client.on('error', ignore);
  try {
    await client.query('BEGIN');
    const report = await ensureLogPartitions(
      async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    );
    await client.query('COMMIT');
    return report;
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.off('error', ignore);
    // Closing a connection that failed inside a transaction rolls back any state.
    client.release(failure);
  }
}

/** The failing query reports the error; without a listener, the event would end the process. */
const ignore = (): void => undefined;
