import { Injectable } from '@nestjs/common';
import type { LimitPolicy } from '../../common/database/entities/limit-policy.entity.js';
import { type Page, totalToldBy } from '../../common/database/page.js';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import type { BudgetRule } from '../../common/limits/rules.js';
import { currentKey, LimitsService } from '../limits/limits.service.js';

/** One group of a budget's policy, in its present period. */
export interface PolicyEntity {
  readonly id: string;
  /** `key:value` of each group, with commas between. */
  readonly valueKey: string;
  /** Nano-dollars or tokens. */
  readonly spent: number;
  readonly isExhausted: boolean;
}

export interface PolicyEntities {
  readonly budget: BudgetRule;
  readonly entities: readonly PolicyEntity[];
  readonly total: number;
}

export interface EntityFilter {
  readonly status: 'active' | 'exhausted' | null;
  /** Part of the value key. */
  readonly search: string | null;
}

interface Row {
  readonly key: string;
  readonly group_text: string;
  readonly spent: string;
  readonly is_exhausted: boolean;
}

/** Keys of one period begin and end alike; only the group between differs. */
const FITTING = `
  FROM limit_counters,
    LATERAL (SELECT refused_at IS NOT NULL OR spent - forgiven >= amount AS is_exhausted) AS state
  WHERE limit_id = $1 AND group_text IS NOT NULL AND starts_with(key, $2) AND right(key, length($3)) = $3
    AND ($3 <> '' OR strpos(key, '@') = 0)
    AND ($4::boolean IS NULL OR is_exhausted = $4) AND ($5::text IS NULL OR strpos(group_text, $5) > 0)`;

const ENTITIES = `
  SELECT key, group_text, spent - forgiven AS spent, is_exhausted ${FITTING} ORDER BY spent DESC, key OFFSET $6 LIMIT $7`;

/** What the groups of a policy have used. */
@Injectable()
export class PolicyEntitiesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly limits: LimitsService,
  ) {}

  /** Those that used most first. */
  async list(policy: LimitPolicy, { status, search }: EntityFilter, page: Page): Promise<PolicyEntities> {
    const budget = budgetOf(policy);
    const { before, after } = aroundGroup(budget);
    const isExhausted = status === null ? null : status === 'exhausted';
    const wanted = [budget.id, before, after, isExhausted, search];
    const rows: Row[] = await this.unitOfWork.manager.query(ENTITIES, [...wanted, page.skip, page.take]);
    const entities = rows.map((row) => ({
      id: row.key.slice(before.length, row.key.length - after.length),
      valueKey: row.group_text,
      spent: Number(row.spent),
      isExhausted: row.is_exhausted,
    }));
    return { budget, entities, total: totalToldBy(rows.length, page) ?? (await this.count(wanted)) };
  }

  private async count(wanted: readonly unknown[]): Promise<number> {
    const [counted]: { total: number }[] = await this.unitOfWork.manager.query(
      `SELECT count(*)::integer AS total ${FITTING}`,
      [...wanted],
    );
    return counted?.total ?? 0;
  }

  /** Sets one group's use back to nothing. It is named by its id, or by its value where the policy has one group. */
  async reset(policy: LimitPolicy, named: string): Promise<void> {
    const budget = budgetOf(policy);
    const [group] = policy.groupBy;
    const rows: { key: string }[] = await this.unitOfWork.manager.query(
      'SELECT key FROM limit_counters WHERE limit_id = $1 AND (key = $2 OR group_text = ANY($3))',
      [budget.id, currentKey(budget, named), [named, `${group?.key ?? ''}:${named}`]],
    );
    const { after } = aroundGroup(budget);
    const keys = rows.map(({ key }) => key).filter((key) => key.endsWith(after));
    if (keys.length === 0) throw new AppError('not_found', { resource: 'entity' });
    await this.limits.forgive(keys);
  }
}

const GROUP = '\n';

function aroundGroup(budget: BudgetRule): { readonly before: string; readonly after: string } {
  const [before = '', after = ''] = currentKey(budget, GROUP).split(GROUP);
  return { before, after };
}

function budgetOf({ budget }: LimitPolicy): BudgetRule {
  if (!budget) throw new AppError('not_found', { resource: 'policy' });
  return budget;
}
