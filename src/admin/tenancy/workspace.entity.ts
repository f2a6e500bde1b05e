import { Column, Entity } from 'typeorm';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import type { WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** Where keys and virtual keys live. The slug is unique in the organization. */
@Entity('workspaces')
export class Workspace extends TenantOwned {
  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  /** What requests of this workspace get, whatever they say themselves. */
  @Column({ type: 'jsonb', default: {} })
  defaults: WorkspaceDefaults;

  /** The one that the organization began with. It cannot be deleted. */
  @Column({ type: 'boolean', default: false })
  isDefault: boolean;

  @Column({ type: 'jsonb', nullable: true })
  rateLimits: RateRule[] | null;

  @Column({ type: 'jsonb', nullable: true })
  usageLimits: BudgetRule[] | null;

  /** Config of requests that name none; null for the next level's. */
  @Column({ type: 'uuid', nullable: true })
  defaultConfigId: string | null;

  /** Days for which its request logs are kept; null for the organization's. */
  @Column({ type: 'integer', nullable: true })
  logRetentionDays: number | null;

  /** The same of request and response bodies. */
  @Column({ type: 'integer', nullable: true })
  bodyRetentionDays: number | null;

  /** What the log must not keep of its requests, besides what its organization says. */
  @Column({ type: 'jsonb', nullable: true })
  logRedaction: LogRedaction | null;
}
