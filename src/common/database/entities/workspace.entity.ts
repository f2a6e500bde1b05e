import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { BudgetRule, RateRule } from '../../limits/rules.js';

/** Where keys and virtual keys live. The slug is unique in the organization. */
@Entity('workspaces')
export class Workspace {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'jsonb', nullable: true })
  rateLimits: RateRule[] | null;

  @Column({ type: 'jsonb', nullable: true })
  usageLimits: BudgetRule[] | null;
  /** Config of requests that name none; null for the next level's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}
