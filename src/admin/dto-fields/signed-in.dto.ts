import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { Scope } from '../../auth/scopes.js';
import { AN_ID, ApiId, ApiMoment, ApiObject } from './fields.js';
import { SessionDto, SignInMethodsDto } from './session.dto.js';

const SOME_SCOPES: readonly Scope[] = ['logs.list', 'logs.view'];

class SessionUserDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'E-mail address. Upper and lower case are equal.', example: 'ada@example.com' })
  readonly email: string;

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

  @ApiProperty({ description: 'Role in the organization.', enum: ['owner', 'admin', 'member'] })
  readonly role: OrganizationRole;
}

class SessionOrganizationDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Display name. It need not be unique.', example: 'Example' })
  readonly name: string;
}

class SessionWorkspaceDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Display name. It need not be unique.', example: 'Checkout' })
  readonly name: string;

  @ApiProperty({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'ws-checkout',
  })
  readonly slug: string;

  @ApiProperty({
    description: 'Role in the workspace. Owners and admins of the organization act as `admin` in each.',
    enum: ['admin', 'manager', 'member'],
  })
  readonly role: WorkspaceRole;
}

class ScopesByRoleDto {
  @ApiProperty({
    description: 'Scopes of workspace admins.',
    type: [String],
    required: false,
    example: SOME_SCOPES,
  })
  readonly admin?: readonly Scope[];

  @ApiProperty({
    description: 'Scopes of workspace managers.',
    type: [String],
    required: false,
    example: SOME_SCOPES,
  })
  readonly manager?: readonly Scope[];

  @ApiProperty({
    description: 'Scopes of workspace members.',
    type: [String],
    required: false,
    example: SOME_SCOPES,
  })
  readonly member?: readonly Scope[];
}

/** The identity provider of a session. */
export interface SessionProvider {
  readonly id: string;
  readonly name: string;
}

// Not a class: a reference to a schema cannot be nullable (https://spec.openapis.org/oas/v3.0.3#schema-object).
const SESSION_PROVIDER: ApiPropertyOptions = {
  type: 'object',
  nullable: true,
  required: ['id', 'name'],
  properties: {
    id: { description: 'Id of the identity provider.', type: 'string', format: 'uuid', example: AN_ID },
    name: { description: 'Name of the identity provider.', type: 'string', example: 'Okta' },
  },
};

/** The signed-in user and their rights. */
export class SignedInDto {
  @ApiObject('signed-in')
  readonly object: 'signed-in';

  @ApiProperty({ description: 'The signed-in user.', type: SessionUserDto })
  readonly user: SessionUserDto;

  @ApiProperty({ description: 'The organization of the session.', type: SessionOrganizationDto })
  readonly organisation: SessionOrganizationDto;

  @ApiProperty({
    description:
      'Workspaces of the user by name, at most 1,000; for owners and admins those of the whole organization.',
    type: [SessionWorkspaceDto],
  })
  readonly workspaces: readonly SessionWorkspaceDto[];

  @ApiProperty({ description: 'Number of all workspaces of the user.', example: 1 })
  readonly workspace_total: number;

  @ApiProperty({ description: 'What each role may do in a workspace.', type: ScopesByRoleDto })
  readonly scopes_by_role: ScopesByRoleDto;

  @ApiProperty({
    description:
      'What the user may do in the workspace of the header `x-gateway-workspace`, or in the whole organization.',
    type: [String],
    example: SOME_SCOPES,
  })
  readonly scopes: readonly Scope[];

  @ApiProperty({ description: 'The current session.', type: SessionDto })
  readonly session: SessionDto;

  @ApiMoment(
    'Time at which the user last proved their identity. Some changes need a proof within the last 10 minutes.',
  )
  readonly authenticated_at: string;

  @ApiProperty({
    description: 'Name of the header that every change must carry, with the value 1.',
    example: 'x-gateway-csrf',
  })
  readonly csrf_header: string;

  @ApiProperty({ description: 'Ways in which the user can sign in.', type: SignInMethodsDto })
  readonly sign_in_methods: SignInMethodsDto;

  @ApiProperty({
    ...SESSION_PROVIDER,
    description:
      'Identity provider of the session. Null if the user did not sign in by single sign-on. Its users step up at `/v1/auth/single-sign-on/start?provider=<id>&reauthenticate=true`.',
  })
  readonly identity_provider: SessionProvider | null;

  static of(fields: Omit<SignedInDto, 'object'>): SignedInDto {
    return { object: 'signed-in', ...fields };
  }
}
