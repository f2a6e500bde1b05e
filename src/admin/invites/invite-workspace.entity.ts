import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WorkspaceRole } from '../../common/contracts/roles.js';

/** A workspace that an invited user will join. The row is deleted with the workspace. */
@Entity('invite_workspaces')
export class InviteWorkspace {
  @PrimaryColumn({ type: 'uuid' })
  inviteId: string;

  @PrimaryColumn({ type: 'uuid' })
  workspaceId: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  role: WorkspaceRole;
}
