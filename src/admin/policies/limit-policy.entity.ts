import { Column, Entity } from 'typeorm';
import type { BudgetRule, PolicyCondition, PolicyKey, RateRule } from '../../common/limits/rules.js';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/** A workspace limit on a part of its requests. It has a budget or a rate, never both. */
@Entity('limit_policies')
export class LimitPolicy extends WorkspaceOwned {
  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'jsonb' })
  conditions: PolicyCondition[];

  @Column({ type: 'jsonb' })
  groupBy: { key: PolicyKey }[];

  @Column({ type: 'jsonb', nullable: true })
  budget: BudgetRule | null;

  @Column({ type: 'jsonb', nullable: true })
  rate: RateRule | null;

  @Column({ type: 'timestamptz', nullable: true })
  lastResetAt: Date | null;

  /** An archived policy limits nothing. */
  @Column({ type: 'timestamptz', nullable: true })
  archivedAt: Date | null;
}
