import { ApiProperty, ApiPropertyOptional, PartialType } from '@nestjs/swagger';
import { IsUUID } from 'class-validator';
import type { OrganizationRole, WorkspaceRole } from '../../common/contracts/roles.js';
import { IfGiven } from '../../common/http/validators.js';
import { AN_ID, ApiId, ApiMoment } from '../dto-fields/fields.js';
import { CreateIdentityProviderDto } from './identity-provider.dto.js';

const A_REDIRECT = `https://gateway.example.com/v1/auth/single-sign-on/callback/${AN_ID}`;

/** A provider with the settings to test. */
export class StartTrialDto extends PartialType(CreateIdentityProviderDto, { skipNullProperties: false }) {
  /** A saved provider for all omitted fields, including its secret. */
  @ApiPropertyOptional({ format: 'uuid', example: AN_ID })
  @IfGiven()
  @IsUUID()
  readonly identity_provider_id?: string;
}

class TrialErrorDto {
  @ApiProperty({ example: 'sso_email_unverified' })
  readonly code: string;

  @ApiProperty({ example: 'The identity provider did not confirm that your e-mail address is verified.' })
  readonly message: string;
}

class TrialWorkspaceDto {
  /** Id or slug, as in the mapping. */
  @ApiProperty({ example: 'ws-search' })
  readonly workspace_id: string;

  @ApiProperty({ enum: ['admin', 'manager', 'member'] })
  readonly role: WorkspaceRole;
}

/** The outcome of a sign-in with this provider. */
export class TrialResultDto {
  /** All claims of the user. Empty if the sign-in failed before. */
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { sub: '00u1', groups: ['search-team'] },
  })
  readonly claims: object;

  @ApiProperty({ type: String, nullable: true, example: 'ada@example.com' })
  readonly email: string | null;

  /** "sign_in": a linked user; "link": a user with this address; "create": a new user; null when refused. */
  @ApiProperty({ type: String, nullable: true, enum: ['sign_in', 'link', 'create', null], example: 'create' })
  readonly action: 'sign_in' | 'link' | 'create' | null;

  /** The resulting role in the organization. */
  @ApiProperty({ type: String, nullable: true, enum: ['owner', 'admin', 'member', null], example: 'member' })
  readonly role: OrganizationRole | null;

  /** The mapped roles; null for a user who keeps their roles. */
  @ApiProperty({ type: [TrialWorkspaceDto], nullable: true })
  readonly workspaces: readonly TrialWorkspaceDto[] | null;

  /** Why the sign-in would be refused. Absent if it would succeed. */
  @ApiProperty({ type: TrialErrorDto, required: false })
  readonly error?: TrialErrorDto;
}

export class SignInTrialDto {
  @ApiProperty({ enum: ['sign-in-trial'] })
  readonly object = 'sign-in-trial';

  @ApiId()
  readonly id: string;

  @ApiProperty({ enum: ['pending', 'done'] })
  readonly status: 'pending' | 'done';

  /** Present once it is done. */
  @ApiProperty({ type: TrialResultDto, required: false })
  readonly result?: TrialResultDto;

  /** Redirect URI of the trial, which a real sign-in uses as well. */
  @ApiProperty({ example: A_REDIRECT })
  readonly redirect_uri: string;

  @ApiMoment()
  readonly expires_at: string;
}

export class StartedTrialDto {
  @ApiProperty({ enum: ['started-sign-in-trial'] })
  readonly object = 'started-sign-in-trial';

  @ApiId()
  readonly id: string;

  /** Id of the saved provider, or the reserved one. Save the provider with it: its redirect URI is registered then. */
  @ApiId()
  readonly identity_provider_id: string;

  /** It must be registered at the provider before the authorization URL is opened. */
  @ApiProperty({ example: A_REDIRECT })
  readonly redirect_uri: string;

  /** Open it in a browser and sign in. It opens no session. */
  @ApiProperty({ example: 'https://login.example.com/authorize?client_id=0oa1b2c3' })
  readonly authorization_url: string;

  @ApiMoment()
  readonly expires_at: string;
}
