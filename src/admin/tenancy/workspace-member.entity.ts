import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { WorkspaceRole } from '../../common/contracts/roles.js';

/** Membership of a user in a workspace. */
@Entity('workspace_members')
export class WorkspaceMember {
  @PrimaryColumn({ type: 'uuid' })
  workspaceId: string;

  @PrimaryColumn({ type: 'uuid' })
  userId: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  role: WorkspaceRole;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}
