import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { RateUse } from '../../common/limits/rate-use.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { currentKey } from '../limits/limits.service.js';
import type { CounterReading } from './limit-statuses.js';

const report = reportSparsely(createLogger('limit-status'));

/** Reads the use of limits: all budgets in one query, and all rates in another. */
@Injectable()
export class LimitUsage {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly rateUse: RateUse,
  ) {}

  /** By rule id. Empty while the store of the rates is unavailable: budgets are shown regardless. */
  async ofRates(rules: readonly RateRule[]): Promise<ReadonlyMap<string, number>> {
    if (rules.length === 0) return new Map();
    try {
      return await this.rateUse.read(rules);
    } catch (error) {
      report('The usage of rate limits could not be read.', error);
      return new Map();
    }
  }

  /** By rule id. Budgets without an entry were not used in this period. */
  async ofBudgets(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, CounterReading>> {
    if (rules.length === 0) return new Map();
    const ids = new Map(rules.map((rule) => [currentKey(rule), rule.id]));
    const rows: { key: string; used: string; since: Date }[] = await this.unitOfWork.manager.query(
      'SELECT key, spent - forgiven AS used, created_at AS since FROM limit_counters WHERE key = ANY($1)',
      [[...ids.keys()]],
    );
    return new Map(
      rows.map(({ key, used, since }) => [
        ids.get(key) ?? '',
        { used: Number(used), since: since.getTime() },
      ]),
    );
  }
}
