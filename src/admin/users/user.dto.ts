import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, MaxLength } from 'class-validator';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import type { User, UserStatus } from '../tenancy/user.entity.js';
import type { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { IfGiven, IsIdOrSlug, IsName, OrNull } from '../../common/http/validators.js';
import { AN_ID, ApiId, ApiObject, ApiCreatedAt, ApiLastUpdatedAt } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { UserMembershipDto } from '../dto-fields/user-membership.dto.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryText, QueryChoice, QueryEmail } from '../http/query-fields.js';
import { PageQuery } from '../http/page-query.dto.js';
import { Audited } from '../dto-fields/audited.js';

const ORGANIZATION_ROLES = ['admin', 'member', 'owner'] as const;

export class ListUsersQuery extends PageQuery {
  @QueryChoice(ORGANIZATION_ROLES, 'Includes only users with this role. Default: all.')
  readonly role?: (typeof ORGANIZATION_ROLES)[number];

  @QueryEmail('Includes only the user with this e-mail address.')
  readonly email?: string;
}

export class RemoveUserQuery extends QueryDto {
  @QueryText('E-mail address of the user, as a confirmation. It can be in the body instead.')
  readonly confirm?: string;
}
const GIVEN_ROLES = ['admin', 'member'] as const;
const LONGEST_CONFIRMATION = 320;

/** Ownership is transferred by a separate operation and not given here. */
export class UpdateUserDto {
  @Audited()
  @ApiPropertyOptional({ description: 'Role in the organization.', enum: GIVEN_ROLES })
  @IfGiven()
  @IsIn(GIVEN_ROLES)
  readonly role?: (typeof GIVEN_ROLES)[number];

  @Audited()
  @ApiPropertyOptional({
    description: '`deactivated` users keep their API keys, roles and memberships, but cannot use them.',
    enum: ['active', 'deactivated'],
  })
  @IfGiven()
  @IsIn(['active', 'deactivated'])
  readonly status?: UserStatus;

  @ApiPropertyOptional({
    description: 'Given name. Null if it is unknown.',
    type: String,
    nullable: true,
    example: 'Ada',
  })
  @OrNull()
  @IsName()
  readonly first_name?: string | null;

  @ApiPropertyOptional({
    description: 'Family name. Null if it is unknown.',
    type: String,
    nullable: true,
    example: 'Lovelace',
  })
  @OrNull()
  @IsName()
  readonly last_name?: string | null;
}

export class RemoveUserDto {
  @Audited()
  @ApiPropertyOptional({
    description: 'E-mail address of the user, repeated as a confirmation; or send it as `?confirm=`.',
    example: 'ada@example.com',
  })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_CONFIRMATION)
  readonly email?: string;

  /** The compatible SDK repeats the id of the path here. */
  @Audited()
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly user_id?: string;
}

export class TransferOwnershipDto {
  @Audited()
  @ApiPropertyOptional({
    description:
      'True makes the current owner, on whose authority this happens, an admin. False adds an owner. Default: true.',
    default: true,
  })
  @IfGiven()
  @IsBoolean()
  readonly step_down: boolean = true;
}

export interface UserWithWorkspaces {
  readonly user: User;
  readonly memberships: readonly Pick<WorkspaceMember, 'workspaceId' | 'role'>[];
}

/** A user as the API shows it. */
export class UserDto {
  @ApiObject('user')
  readonly object: 'user';

  @ApiId()
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

  @ApiProperty({ description: 'Role in the organization.', enum: ORGANIZATION_ROLES })
  readonly role: OrganizationRole;

  @ApiProperty({
    description: '`deactivated` users keep their API keys, roles and memberships, but cannot use them.',
    enum: ['active', 'deactivated'],
  })
  readonly status: UserStatus;

  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  readonly email: string;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiProperty({
    description:
      'Ids of the workspaces in which the user is a member. Owners and admins reach every workspace.',
    type: [String],
    example: [AN_ID],
  })
  readonly workspace_ids: readonly string[];

  @ApiProperty({
    description: 'Workspaces in which the user is a member, with the role in each.',
    type: [UserMembershipDto],
  })
  readonly workspaces: readonly UserMembershipDto[];

  static from({ user, memberships }: UserWithWorkspaces): UserDto {
    return {
      object: 'user',
      id: user.id,
      first_name: user.firstName,
      last_name: user.lastName,
      role: user.role,
      status: user.status,
      email: user.email,
      created_at: user.createdAt.toISOString(),
      last_updated_at: user.updatedAt.toISOString(),
      workspace_ids: memberships.map(({ workspaceId }) => workspaceId),
      workspaces: memberships.map(({ workspaceId, role }) => ({ id: workspaceId, role })),
    };
  }
}

export class UserListDto extends ListOf(UserDto) {
  static from(users: readonly UserWithWorkspaces[], total: number): UserListDto {
    return { object: 'list', total, data: users.map((user) => UserDto.from(user)) };
  }
}
