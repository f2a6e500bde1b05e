import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The retention and redaction of a removed workspace's request log, if it had its own. */
@Entity('retention_of_removed_workspaces')
export class RemovedWorkspaceRetention {
  @PrimaryColumn({ type: 'uuid' })
  organizationId: string;

  @PrimaryColumn({ type: 'uuid' })
  workspaceId: string;

  @Column({ type: 'integer', nullable: true })
  logRetentionDays: number | null;

  @Column({ type: 'integer', nullable: true })
  bodyRetentionDays: number | null;

  @Column({ type: 'jsonb', nullable: true })
  logRedaction: LogRedaction | null;
}
