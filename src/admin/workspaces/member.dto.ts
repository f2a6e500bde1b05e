import { scopesOfRoles } from '../../auth/permissions/roles.js';
import { ApiHideProperty, ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray, IsIn, IsUUID } from 'class-validator';
import type { PolicyFlags } from '../../common/contracts/organization-settings.js';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { User, UserStatus } from '../tenancy/user.entity.js';
import type { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { IfGiven, IsIdOrSlug, withoutCase, NestedList } from '../../common/http/validators.js';
import { ApiId, ApiObject, ApiCreatedAt, ApiLastUpdatedAt } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { QueryText, QueryChoice, QueryEmail } from '../http/query-fields.js';
import { PageQuery } from '../http/page-query.dto.js';
import { Audited } from '../dto-fields/audited.js';

const WORKSPACE_ROLES = ['admin', 'manager', 'member'] as const;

export class ListMembersQuery extends PageQuery {
  @QueryChoice(WORKSPACE_ROLES, 'Includes only users with this role. Default: all.')
  readonly role?: (typeof WORKSPACE_ROLES)[number];

  @QueryEmail('Includes only the user with this e-mail address.')
  readonly email?: string;

  /** The compatible SDK repeats the id of the path. */
  @QueryText('Id or slug of the workspace, as in the path.')
  readonly workspaceId?: string;
}
const MOST_USERS = 100;

/** A member with their user, and the organization's switches that apply. */
export interface MemberDetails {
  readonly switches: PolicyFlags | null;
  readonly member: WorkspaceMember;
  readonly user: User;
}

class NewMemberDto {
  @ApiId('Id of the user.')
  @IsUUID()
  readonly id: string;

  @Audited()
  @ApiProperty({ description: 'Role in the workspace.', enum: WORKSPACE_ROLES })
  @IsIn(WORKSPACE_ROLES)
  readonly role: WorkspaceRole;
}

/** Ids that the compatible SDK repeats from the path in bodies. */
class RepeatedIdsDto {
  @Audited()
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;

  @Audited()
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly user_id?: string;
}

export class AddMembersDto extends RepeatedIdsDto {
  @ApiProperty({ description: 'The new members with their roles, at most 100.', type: [NewMemberDto] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_USERS)
  @ArrayUnique((member: Partial<NewMemberDto> | null) => withoutCase(member?.id), {
    message: 'each user may be named only once',
  })
  @NestedList(() => NewMemberDto)
  readonly users: readonly NewMemberDto[];
}

export class UpdateMemberDto extends RepeatedIdsDto {
  @Audited()
  @ApiProperty({ description: 'Role in the workspace.', enum: WORKSPACE_ROLES })
  @IsIn(WORKSPACE_ROLES)
  readonly role: WorkspaceRole;
}

export class RemoveMemberDto extends RepeatedIdsDto {}

/** A member of a workspace as the API shows it. */
export class MemberDto {
  @ApiObject('workspace-user')
  readonly object: 'workspace-user';

  @ApiId('Id of the user.')
  readonly id: string;

  @ApiProperty({
    description: 'Given name. Null if it is unknown.',
    type: String,
    nullable: true,
    example: 'Ada',
  })
  readonly first_name: string | null;

  @ApiProperty({
    description: 'Family name. Null if it is unknown.',
    type: String,
    nullable: true,
    example: 'Lovelace',
  })
  readonly last_name: string | null;

  @ApiProperty({ description: 'Role of the user in the organization.', enum: ['owner', 'admin', 'member'] })
  readonly org_role: OrganizationRole;

  @ApiProperty({ description: 'Role in the workspace.', enum: WORKSPACE_ROLES })
  readonly role: WorkspaceRole;

  @ApiProperty({ description: 'Current state of the resource.', enum: ['active', 'deactivated'] })
  readonly status: UserStatus;

  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  readonly email: string;

  @ApiId('Id of the workspace.')
  readonly workspace_id: string;

  @ApiProperty({
    description: 'What the user may do in this workspace. Their API keys cannot do more.',
    type: [String],
    example: ['logs.list'],
  })
  readonly scopes: readonly string[];

  @ApiProperty({
    description: 'Always null.',
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: null,
  })
  readonly settings: null;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  static from(membership: MemberDetails): MemberDto {
    const { member, user } = membership;
    return {
      object: 'workspace-user',
      settings: null,
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
    };
  }
}

function scopesOf({ member, user, switches }: MemberDetails): readonly string[] {
  if (user.status !== 'active') return [];
  return [...scopesOfRoles({ organization: user.role, workspace: member.role }, switches)].sort();
}

export class MemberListDto extends ListOf(MemberDto) {
  static from(members: readonly MemberDetails[], total: number): MemberListDto {
    return { object: 'list', total, data: members.map((member) => MemberDto.from(member)) };
  }
}
