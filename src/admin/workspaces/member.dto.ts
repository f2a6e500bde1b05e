import { ApiHideProperty, ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, IsUUID, ValidateNested } from 'class-validator';
import { scopesOfRoles } from '../../auth/roles.js';
import type { SwitchPositions } from '../../common/contracts/organization-settings.js';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { User, UserStatus } from '../../common/database/entities/user.entity.js';
import type { WorkspaceMember } from '../../common/database/entities/workspace-member.entity.js';
import type { Listed } from '../../common/database/page.js';
import { IfGiven, IsIdOrSlug } from '../../common/http/validators.js';

const AN_ID = '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10';
export const WORKSPACE_ROLES = ['admin', 'manager', 'member'] as const;
const MOST_USERS = 100;

/** A member with the person that it is, and the switches of the organization that bind it. */
export interface Membership {
  readonly switches: SwitchPositions | null;
  readonly member: WorkspaceMember;
  readonly user: User;
}

class NewMemberDto {
  @ApiProperty({ format: 'uuid', example: AN_ID })
  @IsUUID()
  readonly id: string;

  @ApiProperty({ enum: WORKSPACE_ROLES })
  @IsIn(WORKSPACE_ROLES)
  readonly role: WorkspaceRole;
}

/** What the compatible SDK repeats of the path in bodies. */
class RepeatedIdsDto {
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;

  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly user_id?: string;
}

export class AddMembersDto extends RepeatedIdsDto {
  @ApiProperty({ type: [NewMemberDto] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_USERS)
  @ArrayUnique(({ id }: NewMemberDto) => id.toLowerCase(), { message: 'each person may be named only once' })
  @ValidateNested({ each: true })
  @Type(() => NewMemberDto)
  readonly users: readonly NewMemberDto[];
}

export class UpdateMemberDto extends RepeatedIdsDto {
  @ApiProperty({ enum: WORKSPACE_ROLES })
  @IsIn(WORKSPACE_ROLES)
  readonly role: WorkspaceRole;
}

export class RemoveMemberDto extends RepeatedIdsDto {}

/** A member of a workspace as the API shows it. */
export class MemberDto {
  @ApiProperty({ enum: ['workspace-user'] })
  readonly object = 'workspace-user';

  /** The person's. */
  @ApiProperty({ format: 'uuid', example: AN_ID })
  readonly id: string;

  @ApiProperty({ type: String, nullable: true, example: 'Ada' })
  readonly first_name: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'Lovelace' })
  readonly last_name: string | null;

  @ApiProperty({ enum: ['owner', 'admin', 'member'] })
  readonly org_role: OrganizationRole;

  @ApiProperty({ enum: WORKSPACE_ROLES })
  readonly role: WorkspaceRole;

  @ApiProperty({ enum: ['active', 'deactivated'] })
  readonly status: UserStatus;

  @ApiProperty({ example: 'ada@example.com' })
  readonly email: string;

  @ApiProperty({ format: 'uuid', example: AN_ID })
  readonly workspace_id: string;

  /** What this person may do in the workspace, and so what a key of theirs may do at most. */
  @ApiProperty({ type: [String], example: ['logs.list'] })
  readonly scopes: readonly string[];

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: null })
  readonly settings: null = null;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly created_at: string;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly last_updated_at: string;

  static from(membership: Membership): MemberDto {
    const { member, user } = membership;
    return Object.assign(new MemberDto(), {
      id: user.id,
      first_name: user.firstName,
      last_name: user.lastName,
      org_role: user.role,
      role: member.role,
      status: user.status,
      email: user.email,
      workspace_id: member.workspaceId,
      scopes: scopesOf(membership),
      created_at: member.createdAt.toISOString(),
      last_updated_at: member.updatedAt.toISOString(),
    });
  }
}

function scopesOf({ member, user, switches }: Membership): readonly string[] {
  if (user.status !== 'active') return [];
  return [...scopesOfRoles({ organization: user.role, workspace: member.role }, switches)].sort();
}

export class MemberListDto implements Listed<MemberDto> {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ example: 1 })
  readonly total: number;

  @ApiProperty({ type: [MemberDto] })
  readonly data: readonly MemberDto[];

  static from(members: readonly Membership[], total: number): MemberListDto {
    return Object.assign(new MemberListDto(), { total, data: members.map((member) => MemberDto.from(member)) });
  }
}
