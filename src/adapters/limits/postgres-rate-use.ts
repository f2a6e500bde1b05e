import type { Queryable } from '../../database/queryable.js';
import type { UnitOfWork } from '../../database/unit-of-work.js';
import { RateUse, windowOf } from '../../common/limits/rate-use.js';
import type { RateRule } from '../../common/limits/rules.js';

/** The counters of `PostgresLimitStore`, read in one query. */
export class PostgresRateUse extends RateUse {
  constructor(private readonly database: Queryable) {
    super();
  }

  /** Reads in the transaction of the current request. */
  static within(work: UnitOfWork): PostgresRateUse {
    return new PostgresRateUse({ query: (sql, parameters) => work.manager.query(sql, parameters) });
  }

  override async read(rules: readonly RateRule[]): Promise<ReadonlyMap<string, number>> {
    const rates = rules.map((rule) => ({ id: rule.id, window: windowOf(rule) }));
    const rows = await this.database.query<{ id: string; used: string }>(
      'SELECT id, used FROM used_rates($1)',
      [JSON.stringify(rates)],
    );
    return new Map(rows.map(({ id, used }) => [id, Number(used)]));
  }
}
