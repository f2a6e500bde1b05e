import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import type { Scope } from '../../auth/scopes.js';
import { AN_ID, ApiId, ApiMoment } from './fields.js';
import { SessionDto, SignInMethodsDto } from './session.dto.js';

const SOME_SCOPES: readonly Scope[] = ['logs.list', 'logs.view'];

class SessionUserDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'ada@example.com' })
  readonly email: string;

  @ApiProperty({ type: String, nullable: true, example: 'Ada' })
  readonly first_name: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'Lovelace' })
  readonly last_name: string | null;

  /** The role in the organization. */
  @ApiProperty({ enum: ['owner', 'admin', 'member'] })
  readonly role: OrganizationRole;
}

class SessionOrganizationDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'Example' })
  readonly name: string;
}

class SessionWorkspaceDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'Checkout' })
  readonly name: string;

  @ApiProperty({ example: 'ws-checkout' })
  readonly slug: string;

  /** The role in the workspace. Owners and admins of the organization act as `admin` in each. */
  @ApiProperty({ enum: ['admin', 'manager', 'member'] })
  readonly role: WorkspaceRole;
}

class ScopesByRoleDto {
  @ApiProperty({ type: [String], required: false, example: SOME_SCOPES })
  readonly admin?: readonly Scope[];

  @ApiProperty({ type: [String], required: false, example: SOME_SCOPES })
  readonly manager?: readonly Scope[];

  @ApiProperty({ type: [String], required: false, example: SOME_SCOPES })
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
    id: { type: 'string', format: 'uuid', example: AN_ID },
    name: { type: 'string', example: 'Okta' },
  },
};

/** The signed-in user and their rights. */
export class SignedInDto {
  @ApiProperty({ enum: ['signed-in'] })
  readonly object = 'signed-in';

  @ApiProperty({ type: SessionUserDto })
  readonly user: SessionUserDto;

  @ApiProperty({ type: SessionOrganizationDto })
  readonly organisation: SessionOrganizationDto;

  /** The user's workspaces, by name; all of them for owners and admins, up to 1,000. Search for others in the list of workspaces. */
  @ApiProperty({ type: [SessionWorkspaceDto] })
  readonly workspaces: readonly SessionWorkspaceDto[];

  @ApiProperty({ example: 1 })
  readonly workspace_total: number;

  /** The scopes in a workspace, by the user's role there. */
  @ApiProperty({ type: ScopesByRoleDto })
  readonly scopes_by_role: ScopesByRoleDto;

  /** The scopes of this request: in the workspace of the header `x-gateway-workspace`, or in the whole organization. */
  @ApiProperty({ type: [String], example: SOME_SCOPES })
  readonly scopes: readonly Scope[];

  @ApiProperty({ type: SessionDto })
  readonly session: SessionDto;

  /** Time of the user's last authentication. Some changes require it again after 10 minutes. */
  @ApiMoment()
  readonly authenticated_at: string;

  /** The header required for every change, with the value 1. */
  @ApiProperty({ example: 'x-gateway-csrf' })
  readonly csrf_header: string;

  @ApiProperty({ type: SignInMethodsDto })
  readonly sign_in_methods: SignInMethodsDto;

  /**
   * The identity provider of a single sign-on session; null for other sessions. Its user steps up at
   * `/v1/auth/single-sign-on/start?provider=<id>&reauthenticate=true`.
   */
  @ApiProperty(SESSION_PROVIDER)
  readonly identity_provider: SessionProvider | null;

  static of(fields: Omit<SignedInDto, 'object'>): SignedInDto {
    return Object.assign(new SignedInDto(), fields);
  }
}
