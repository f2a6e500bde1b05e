import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { WorkspaceRole } from '../../common/contracts/roles.js';

/** A workspace that an invited person will be a member of. It goes with the workspace. */
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
