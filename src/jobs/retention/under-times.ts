import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { KeptTimes, type RetentionRule } from '../../request-log/retention/kept-times.js';
import { ALL_RULES } from '../../request-log/retention/read-rules.js';
import { inTransaction } from '../../request-log/rollups/transaction.js';
import type { RetentionDays } from '../../common/settings/settings.js';

/** Runs work with the current retention times. No legal hold can be placed until it is done. */
export type UnderTimes = <T>(work: (times: KeptTimes, transaction: Queryable) => Promise<T>) => Promise<T>;

/** As before dropping a day: it waits for a hold that is being placed, and a later hold waits for it. */
export function underTimes(database: DataSource, usual: RetentionDays): UnderTimes {
  return (work) =>
    inTransaction(database, async (transaction) => {
      await transaction.query("SET LOCAL lock_timeout = '2s'");
      await transaction.query('LOCK TABLE legal_holds IN SHARE MODE');
      const rules = await transaction.query<RetentionRule>(ALL_RULES);
      return work(new KeptTimes(usual, rules), transaction);
    });
}
