import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { KeptTimes, type RetentionRule } from '../../request-log/retention/kept-times.js';
import { ALL_RULES } from '../../request-log/retention/read-rules.js';
import { inTransaction } from '../../request-log/rollups/transaction.js';
import type { RetentionDays } from '../../common/settings/settings.js';

/** Runs something by the times of this moment. Until it is done nobody can place a legal hold. */
export type UnderTimes = <T>(work: (times: KeptTimes, transaction: Queryable) => Promise<T>) => Promise<T>;

/** As before a day is dropped: a hold that is being placed is waited for, and one that comes later waits. */
export function underTimes(database: DataSource, usual: RetentionDays): UnderTimes {
  return (work) =>
    inTransaction(database, async (transaction) => {
      await transaction.query("SET LOCAL lock_timeout = '2s'");
      await transaction.query('LOCK TABLE legal_holds IN SHARE MODE');
      const rules = await transaction.query<RetentionRule>(ALL_RULES);
      return work(new KeptTimes(usual, rules), transaction);
    });
}
