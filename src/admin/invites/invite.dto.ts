import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsObject } from 'class-validator';
import type { WorkspaceRole } from '../../common/contracts/roles.js';
import type { Invite, InvitedRole, InviteStatus } from '../tenancy/invite.entity.js';
import { IsEmailAddress } from '../../common/http/email-address.js';
import { Nested, IfGiven, IsIdOrSlug, NestedList } from '../../common/http/validators.js';
import {
  ApiId,
  ApiObject,
  ApiMoment,
  ApiCreatedAt,
  ApiMomentOrNull,
  TakesScopes,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { UserMembershipDto } from '../dto-fields/user-membership.dto.js';
import type { InviteWorkspace } from './invite-workspace.entity.js';
import { QueryChoice, QueryEmail } from '../http/query-fields.js';
import { PageQuery } from '../http/page-query.dto.js';
import { Audited } from '../dto-fields/audited.js';

const INVITED_ROLES = ['admin', 'member'] as const;
const INVITE_STATUSES = ['pending', 'cancelled', 'accepted', 'expired'] as const;
const WORKSPACE_ROLES = ['admin', 'manager', 'member'] as const;
const MOST_WORKSPACES = 100;

export class ListInvitesQuery extends PageQuery {
  @QueryChoice(INVITED_ROLES, 'Includes only invites with this role. Default: all.')
  readonly role?: InvitedRole;

  @QueryEmail('Includes only the invite for this e-mail address.')
  readonly email?: string;

  @QueryChoice(INVITE_STATUSES, 'Includes only invites in this state. Default: all.')
  readonly status?: InviteStatus;
}

class InvitedToDto {
  @Audited('workspaces')
  @ApiProperty({ description: 'Id or slug of the workspace.', example: 'ws-default' })
  @IsIdOrSlug()
  readonly id: string;

  @Audited('workspaces')
  @ApiProperty({ description: 'Role in the workspace.', enum: WORKSPACE_ROLES })
  @IsIn(WORKSPACE_ROLES)
  readonly role: WorkspaceRole;
}

class PromisedKeyDto {
  @TakesScopes('completions.write')
  readonly scopes: readonly string[];
}

export class CreateInviteDto {
  @Audited()
  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  @IsEmailAddress()
  readonly email: string;

  @Audited()
  @ApiProperty({ description: 'Role in the organization.', enum: INVITED_ROLES })
  @IsIn(INVITED_ROLES)
  readonly role: InvitedRole;

  @ApiProperty({
    description: 'Workspaces that the new user joins, at most 100; an empty list for none.',
    type: [InvitedToDto],
  })
  @IsArray()
  @ArrayMaxSize(MOST_WORKSPACES)
  @NestedList(() => InvitedToDto)
  readonly workspaces: readonly InvitedToDto[];

  @ApiPropertyOptional({
    description:
      'Creates an API key for the user in each of these workspaces. The response to the acceptance shows them once. Default: no keys.',
    type: PromisedKeyDto,
  })
  @IfGiven()
  @IsObject()
  @Nested(() => PromisedKeyDto)
  readonly workspace_api_key_details?: PromisedKeyDto;
}

export class CancelInviteDto {
  /** The compatible SDK repeats the id of the path here. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly invite_id?: string;
}

/** Null when a mail delivers the link, only to the user. */
type Link = string | null;
const LINK = { type: String, nullable: true, format: 'uri', example: null } as const;

export class CreatedInviteDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({
    ...LINK,
    description: 'One-use link to send to the user. Null if the gateway sends it by e-mail.',
  })
  readonly invite_link: Link;

  static from({ id }: Invite, link: Link): CreatedInviteDto {
    return { id, invite_link: link };
  }
}

export class ResentInviteDto {
  @ApiProperty({
    ...LINK,
    description: 'One-use link to send to the user. Null if the gateway sends it by e-mail.',
  })
  readonly inviteLink: Link;

  static from(link: Link): ResentInviteDto {
    return { inviteLink: link };
  }
}

export interface InviteWithWorkspaces {
  readonly invite: Invite;
  readonly workspaces: readonly Pick<InviteWorkspace, 'workspaceId' | 'role'>[];
}

/** An invite as the API shows it, without its token. */
export class InviteDto {
  @ApiObject('invite')
  readonly object: 'invite';

  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  readonly email: string;

  @ApiProperty({ description: 'Role in the organization.', enum: INVITED_ROLES })
  readonly role: InvitedRole;

  @ApiProperty({
    description: 'State of the invite. Only a `pending` one can be accepted.',
    enum: INVITE_STATUSES,
  })
  readonly status: InviteStatus;

  @ApiProperty({
    description: 'Workspaces that the user joins at acceptance, with the role in each.',
    type: [UserMembershipDto],
  })
  readonly workspaces: readonly UserMembershipDto[];

  @ApiId('Id of the user or API key that created the invite.')
  readonly invited_by: string;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiMoment('Time at which the resource stops working, ISO 8601 in UTC. Null if it does not expire.')
  readonly expires_at: string;

  @ApiMomentOrNull('Time of acceptance. Null until then.')
  readonly accepted_at: string | null;

  static from({ invite, workspaces }: InviteWithWorkspaces): InviteDto {
    return {
      object: 'invite',
      id: invite.id,
      email: invite.email,
      role: invite.role,
      status: statusOf(invite),
      workspaces: workspaces.map(({ workspaceId, role }) => ({ id: workspaceId, role })),
      invited_by: invite.invitedBy,
      created_at: invite.createdAt.toISOString(),
      expires_at: invite.expiresAt.toISOString(),
      accepted_at: invite.acceptedAt?.toISOString() ?? null,
    };
  }
}

/** The time decides, even if the row has not been updated yet. */
export function statusOf({ status, expiresAt }: Invite): InviteStatus {
  return status === 'pending' && expiresAt.getTime() <= Date.now() ? 'expired' : status;
}

export class InviteListDto extends ListOf(InviteDto) {
  static from(invites: readonly InviteWithWorkspaces[], total: number): InviteListDto {
    return { object: 'list', total, data: invites.map((invite) => InviteDto.from(invite)) };
  }
}
