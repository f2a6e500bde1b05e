import { Injectable } from '@nestjs/common';
import type { LimitPolicy } from './limit-policy.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { periodAt } from '../../common/limits/period.js';
import type { BudgetRule } from '../../common/limits/rules.js';
import { currentKey, LimitsService } from '../limits/limits.service.js';

/** One group of a budget policy in its current period. */
export interface PolicyEntity {
  readonly id: string;
  /** `key:value` of each group, separated by commas. */
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
  /** Part of the value key to search for. */
  readonly search: string | null;
}

/** The first row has the total, and is returned even if the page has no groups. */
interface PolicyEntityRow {
  readonly total: number;
  readonly key: string | null;
  readonly group_text: string;
  readonly spent: string;
  readonly is_exhausted: boolean;
}

/** The policy's condition in the form of a partial index, which includes that the counter belongs to a group. */
const OF_POLICY = 'organization_id = $1 AND limit_id = $2 AND group_text IS NOT NULL';

const FITTING = `${OF_POLICY} AND period = $3
  AND ($4::boolean IS NULL OR is_exhausted = $4) AND ($5::text IS NULL OR strpos(group_text, $5) > 0)`;

/**
 * Groups are counted by bands, which an index has in order of use; the exact use is read and sorted only in the bands of the page ($6, $7).
 * Exported so that its plan can be checked.
 */
export const POLICY_ENTITIES = `
  WITH bands AS MATERIALIZED (
    SELECT band, count(*) AS size FROM limit_counters WHERE ${FITTING} GROUP BY band
  ), sums AS (
    SELECT band, size, sum(size) OVER (ORDER BY band DESC) AS through FROM bands
  ), wanted AS MATERIALIZED (
    SELECT min(band) AS lowest, max(band) AS highest, min(through - size)::bigint AS before FROM sums
    WHERE through > $6 AND through - size < $6 + $7
  )
  SELECT counted.total, page.*
  FROM (SELECT coalesce(sum(size), 0)::integer AS total FROM bands) AS counted LEFT JOIN LATERAL (
    SELECT key, group_text, spent - forgiven AS spent, is_exhausted FROM limit_counters
    WHERE ${FITTING} AND band BETWEEN (SELECT lowest FROM wanted) AND (SELECT highest FROM wanted)
    ORDER BY band DESC, spent - forgiven DESC, key OFFSET $6::bigint - (SELECT before FROM wanted) LIMIT $7
  ) AS page ON true`;

/** The use of a policy's groups. */
@Injectable()
export class PolicyEntitiesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly limits: LimitsService,
  ) {}

  /** Highest use first. */
  async list(policy: LimitPolicy, { status, search }: EntityFilter, page: Page): Promise<PolicyEntities> {
    const budget = budgetOf(policy);
    const { before, after } = aroundGroup(budget);
    const isExhausted = status === null ? null : status === 'exhausted';
    const which = [policy.organizationId, budget.id, periodOf(budget), isExhausted, search];
    const rows: PolicyEntityRow[] = await this.unitOfWork.manager.query(POLICY_ENTITIES, [
      ...which,
      page.skip,
      page.take,
    ]);
    const entities = rows.flatMap(({ key, group_text, spent, is_exhausted }) =>
      key === null
        ? []
        : [
            {
              id: key.slice(before.length, key.length - after.length),
              valueKey: group_text,
              spent: Number(spent),
              isExhausted: is_exhausted,
            },
          ],
    );
    return { budget, entities, total: rows[0]?.total ?? 0 };
  }

  /** Resets the use of one group, named by its id, or by its value if the policy has one group. */
  async reset(policy: LimitPolicy, named: string): Promise<void> {
    const budget = budgetOf(policy);
    if (named.includes('\0')) throw noSuchEntity();
    const [group] = policy.groupBy;
    const rows: { key: string }[] = await this.unitOfWork.manager.query(
      `SELECT key FROM limit_counters WHERE ${OF_POLICY} AND period = $3 AND (key = $4 OR group_text = ANY($5))`,
      [
        policy.organizationId,
        budget.id,
        periodOf(budget),
        currentKey(budget, named),
        [named, `${group?.key ?? ''}:${named}`],
      ],
    );
    if (rows.length === 0) throw noSuchEntity();
    await this.limits.forgive(rows.map(({ key }) => key));
  }
}

const noSuchEntity = (): AppError => new AppError('not_found', { resource: 'entity' });

const GROUP = '\n';

function aroundGroup(budget: BudgetRule): { readonly before: string; readonly after: string } {
  const [before = '', after = ''] = currentKey(budget, GROUP).split(GROUP);
  return { before, after };
}

/** The column `period` of current counters. */
const periodOf = (budget: BudgetRule): number => periodAt(budget, Date.now()).startsAt / 1_000;

function budgetOf({ budget }: LimitPolicy): BudgetRule {
  if (!budget) throw new AppError('not_found', { resource: 'policy' });
  return budget;
}
