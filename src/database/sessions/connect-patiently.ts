import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { retryPauseMs } from '../../common/loops/retry-pause.js';
import type { Logger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { isDatabaseUnavailable } from './database-errors.js';

const PAUSE = { firstMs: 250, maxMs: 5_000 };

/** Connects, however long the database is unavailable: a process that gave up would only be restarted. Rejects on permanent errors. */
export async function connectPatiently(dataSource: DataSource, log: Logger): Promise<void> {
  const report = reportSparsely(log);
  for (let failures = 1; ; failures++) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      report('The database is unavailable. This process starts when it is available.', error);
      await sleep(retryPauseMs(failures, PAUSE));
    }
  }
}
