import { ApiProperty } from '@nestjs/swagger';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import { ApiId } from './fields.js';

/** A workspace, and the role of a user in it. */
export class UserMembershipDto {
  @ApiId('Id of the workspace.')
  readonly id: string;

  @ApiProperty({ description: 'Role in the workspace.', enum: ['admin', 'manager', 'member'] })
  readonly role: WorkspaceRole;
}
