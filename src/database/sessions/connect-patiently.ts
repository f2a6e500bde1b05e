import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { Logger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { isDatabaseAway } from '../database-errors.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/** Connects, however long the database is unavailable: a process that gave up would only be restarted. Rejects on permanent errors. */
export async function connectPatiently(dataSource: DataSource, log: Logger): Promise<void> {
  const report = reportSparsely(log);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      await dataSource.initialize();
      return;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      report('The database is unavailable. This process starts when it is available.', error);
      await sleep(pauseMs);
    }
  }
}
