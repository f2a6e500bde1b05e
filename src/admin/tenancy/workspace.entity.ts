import { Column, Entity } from 'typeorm';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** Contains keys and virtual keys. The slug is unique in the organization. */
@Entity('workspaces')
export class Workspace extends TenantOwned {
  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  /** Defaults for its requests, overriding their own values. */
  @Column({ type: 'jsonb', default: {} })
  defaults: WorkspaceDefaults;

  /** The organization's initial workspace. It cannot be deleted. */
  @Column({ type: 'boolean', default: false })
  isDefault: boolean;

  @Column({ type: 'jsonb', nullable: true })
  rateLimits: RateRule[] | null;

  @Column({ type: 'jsonb', nullable: true })
  usageLimits: BudgetRule[] | null;

  /** Config of requests that name none; null for the next level's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  /** Retention of its request logs in days; null for the organization's. */
  @Column({ type: 'integer', nullable: true })
  logRetentionDays: number | null;

  /** The same for request and response bodies. */
  @Column({ type: 'integer', nullable: true })
  bodyRetentionDays: number | null;

  /** Content of its requests that the log must not keep, in addition to the organization's rules. */
  @Column({ type: 'jsonb', nullable: true })
  logRedaction: LogRedaction | null;
}
