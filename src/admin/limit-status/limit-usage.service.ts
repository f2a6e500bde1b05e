import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { BudgetRule } from '../../common/limits/rules.js';
import { currentKey } from '../limits/limits.service.js';
import type { Counted } from './limit-statuses.js';

/** Reads what was used of budgets, in one query. Rates are counted where no tenant may look: in tables of all tenants, or in Redis. */
@Injectable()
export class LimitUsage {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** By the id of the rule. Budgets without an entry were not used in this period. */
  async ofBudgets(rules: readonly BudgetRule[]): Promise<ReadonlyMap<string, Counted>> {
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
