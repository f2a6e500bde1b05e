import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, MaxLength } from 'class-validator';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import type { User, UserStatus } from '../tenancy/user.entity.js';
import type { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { IfGiven, IsIdOrSlug, IsName, OrNull } from '../../common/http/validators.js';
import { AN_ID, ApiId, ApiMoment } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { UserMembershipDto } from '../dto-fields/user-membership.dto.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryText, QueryChoice, QueryEmail } from '../http/query-fields.js';
import { PageQuery } from '../http/page-query.dto.js';

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
  @ApiPropertyOptional({ enum: GIVEN_ROLES })
  @IfGiven()
  @IsIn(GIVEN_ROLES)
  readonly role?: (typeof GIVEN_ROLES)[number];

  /** A deactivated user keeps keys, roles and memberships, but none of them has any effect. */
  @ApiPropertyOptional({ enum: ['active', 'deactivated'] })
  @IfGiven()
  @IsIn(['active', 'deactivated'])
  readonly status?: UserStatus;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'Ada' })
  @OrNull()
  @IsName()
  readonly first_name?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'Lovelace' })
  @OrNull()
  @IsName()
  readonly last_name?: string | null;
}

export class RemoveUserDto {
  /** The user's email address, repeated as confirmation; or send it as `?confirm=`. */
  @ApiPropertyOptional({ example: 'ada@example.com' })
  @IfGiven()
  @IsString()
  @MaxLength(LONGEST_CONFIRMATION)
  readonly email?: string;

  /** The compatible SDK repeats the id of the path here. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly user_id?: string;
}

export class TransferOwnershipDto {
  /** Whether the current owner becomes an admin; otherwise the organization has one more owner. */
  @ApiPropertyOptional({ default: true })
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
  @ApiProperty({ enum: ['user'] })
  readonly object = 'user';

  @ApiId()
  readonly id: string;

  @ApiProperty({ type: String, nullable: true, example: 'Ada' })
  readonly first_name: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'Lovelace' })
  readonly last_name: string | null;

  @ApiProperty({ enum: ORGANIZATION_ROLES })
  readonly role: OrganizationRole;

  @ApiProperty({ enum: ['active', 'deactivated'] })
  readonly status: UserStatus;

  @ApiProperty({ example: 'ada@example.com' })
  readonly email: string;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  /** The user's memberships. Owners and admins can access every workspace without one. */
  @ApiProperty({ type: [String], example: [AN_ID] })
  readonly workspace_ids: readonly string[];

  /** The same workspaces, each with the user's role in it. */
  @ApiProperty({ type: [UserMembershipDto] })
  readonly workspaces: readonly UserMembershipDto[];

  static from({ user, memberships }: UserWithWorkspaces): UserDto {
    return Object.assign(new UserDto(), {
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
    });
  }
}

export class UserListDto extends ListOf(UserDto) {
  static from(users: readonly UserWithWorkspaces[], total: number): UserListDto {
    return Object.assign(new UserListDto(), { total, data: users.map((user) => UserDto.from(user)) });
  }
}
