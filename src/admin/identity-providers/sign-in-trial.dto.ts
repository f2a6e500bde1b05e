import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { IsUUID } from 'class-validator';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import { IfGiven } from '../../common/http/validators.js';
import { AN_ID, ApiId, ApiMoment, ApiObject } from '../dto-fields/fields.js';
import { CreateIdentityProviderDto } from './identity-provider.dto.js';

const A_REDIRECT = `https://gateway.example.com/v1/auth/single-sign-on/callback/${AN_ID}`;

/** A provider with the settings to test. */
export class StartTrialDto extends PartialType(CreateIdentityProviderDto, { skipNullProperties: false }) {
  @ApiPropertyOptional({
    description: 'Id of a saved identity provider, whose settings apply where the body leaves them out.',
    format: 'uuid',
    example: AN_ID,
  })
  @IfGiven()
  @IsUUID()
  readonly identity_provider_id?: string;
}

class TrialErrorDto {
  @ApiProperty({ description: 'Stable code of the error.', example: 'sso_email_unverified' })
  readonly code: string;

  @ApiProperty({
    description: 'What would prevent the sign-in, and what to do about it.',
    example: 'The identity provider did not confirm that your e-mail address is verified.',
  })
  readonly message: string;
}

class TrialWorkspaceDto {
  @ApiProperty({ description: 'Id or slug of the workspace, as the mapping has it.', example: 'ws-search' })
  readonly workspace_id: string;

  @ApiProperty({ description: 'Role in the workspace.', enum: ['admin', 'manager', 'member'] })
  readonly role: WorkspaceRole;
}

/** The outcome of a sign-in with this provider. */
export class TrialResultDto {
  @ApiProperty({
    description: 'Claims that the identity provider sent. Empty if the sign-in failed before.',
    type: 'object',
    additionalProperties: true,
    example: { sub: '00u1', groups: ['search-team'] },
  })
  readonly claims: object;

  @ApiProperty({
    description: 'E-mail address that the identity provider sent. Null if there was none.',
    type: String,
    nullable: true,
    example: 'ada@example.com',
  })
  readonly email: string | null;

  @ApiProperty({
    description:
      'What a real sign-in would do: `sign_in` a linked user, `link` the account to an existing user, or `create` a user. Null if it would be refused.',
    type: String,
    nullable: true,
    enum: ['sign_in', 'link', 'create', null],
    example: 'create',
  })
  readonly action: 'sign_in' | 'link' | 'create' | null;

  @ApiProperty({
    description: 'Role in the organization after the sign-in. Null if it would be refused.',
    type: String,
    nullable: true,
    enum: ['owner', 'admin', 'member', null],
    example: 'member',
  })
  readonly role: OrganizationRole | null;

  @ApiProperty({
    description: 'Workspaces and roles that the mappings give. Null if the user keeps their current roles.',
    type: [TrialWorkspaceDto],
    nullable: true,
  })
  readonly workspaces: readonly TrialWorkspaceDto[] | null;

  @ApiProperty({
    description: 'Why the sign-in would be refused. Absent if it would succeed.',
    type: TrialErrorDto,
    required: false,
  })
  readonly error?: TrialErrorDto;
}

export class SignInTrialDto {
  @ApiObject('sign-in-trial')
  readonly object = 'sign-in-trial';

  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: '`pending` until the user has come back from the identity provider, then `done`.',
    enum: ['pending', 'done'],
  })
  readonly status: 'pending' | 'done';

  @ApiProperty({
    description: 'Outcome of the trial. Absent while it is pending.',
    type: TrialResultDto,
    required: false,
  })
  readonly result?: TrialResultDto;

  @ApiProperty({
    description:
      'Redirect URI to register at the identity provider. Each identity provider has its own, which ends with its id.',
    example: A_REDIRECT,
  })
  readonly redirect_uri: string;

  @ApiMoment('Time at which the trial ends.')
  readonly expires_at: string;
}

export class StartedTrialDto {
  @ApiObject('started-sign-in-trial')
  readonly object = 'started-sign-in-trial';

  @ApiId()
  readonly id: string;

  @ApiId('Id of the saved identity provider, or the reserved id. Save the identity provider with it.')
  readonly identity_provider_id: string;

  @ApiProperty({
    description:
      'Redirect URI to register at the identity provider. Each identity provider has its own, which ends with its id.',
    example: A_REDIRECT,
  })
  readonly redirect_uri: string;

  @ApiProperty({
    description: 'Address to open in a browser. The sign-in there is only a trial and opens no session.',
    example: 'https://login.example.com/authorize?client_id=0oa1b2c3',
  })
  readonly authorization_url: string;

  @ApiMoment('Time at which the trial ends.')
  readonly expires_at: string;
}
