import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, OmitType, PartialType } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsString,
  IsUUID,
  Length,
  Matches,
} from 'class-validator';
import type { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { IfGiven, NestedList } from '../../common/http/validators.js';
import { AN_ID, ApiId, ApiObject, ApiCreatedAt, ApiLastUpdatedAt, TakesName } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { mappingOf, RoleMappingDto, shownMapping } from '../dto-fields/role-mapping.dto.js';
import type { DirectoryRules } from '../openid-connect/directory-rules.js';
import type { SignOnAddresses } from '../openid-connect/saved-providers.service.js';
import { Audited } from '../dto-fields/audited.js';
import { AreDomains, MOST_DOMAINS, HasOpenId } from './domains-and-scopes.js';

const LONGEST_TEXT = 255;
const LONGEST_ISSUER = 2_000;
const LONGEST_SECRET = 4_096;
const MOST_MAPPINGS = 500;
const MOST_SCOPES = 20;
const DEFAULT_SCOPES = ['openid', 'email', 'profile'];
const DEFAULT_GROUPS_CLAIM = 'groups';
const AN_ISSUER = 'https://login.example.com';

const Switch = (description: string, byDefault: boolean): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ description, default: byDefault }), IfGiven(), IsBoolean());

export class CreateIdentityProviderDto {
  @ApiPropertyOptional({
    description:
      'Reserved id for a new identity provider, whose redirect URI you may have registered already. Default: a new id.',
    format: 'uuid',
    example: AN_ID,
  })
  @IfGiven()
  @IsUUID()
  readonly id?: string;

  @Audited()
  @TakesName('Okta', 'Name on the sign-in page.')
  readonly name: string;

  @Audited()
  @ApiProperty({
    description:
      'Issuer of the identity provider (OpenID Connect), exactly as its `/.well-known/openid-configuration` writes it.',
    example: AN_ISSUER,
    maxLength: LONGEST_ISSUER,
  })
  @Matches(/^https?:\/\/[!-~]+$/, {
    message: 'it must be http:// or https:// with a host, and only printable ASCII characters',
  })
  @Length(1, LONGEST_ISSUER)
  @IsString()
  readonly issuer: string;

  @Audited()
  @ApiProperty({
    description: 'Client id under which the gateway is registered at the identity provider.',
    example: '0oa1b2c3',
    maxLength: LONGEST_TEXT,
  })
  @Length(1, LONGEST_TEXT)
  @IsString()
  readonly client_id: string;

  @ApiProperty({
    description:
      'Client secret of that registration. It is stored encrypted; responses show `***`. Leave it out of a change to keep it.',
    writeOnly: true,
    maxLength: LONGEST_SECRET,
    example: 'a-secret-of-the-provider',
  })
  @Matches(/^[!-~]+$/, { message: 'it must be printable ASCII without spaces' })
  @Length(1, LONGEST_SECRET)
  @IsString()
  readonly client_secret: string;

  @Audited()
  @ApiPropertyOptional({
    description:
      'OpenID Connect scopes to request, at most 20. Default: `openid`, `email` and `profile`; in a trial, those of the saved provider.',
    type: [String],
    default: DEFAULT_SCOPES,
    maxItems: MOST_SCOPES,
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_SCOPES)
  @ArrayUnique()
  @Matches(/^[!#-[\]-~]{1,255}$/, { each: true, message: 'each must be a scope without spaces and quotes' })
  @HasOpenId()
  readonly scopes?: string[];

  @Audited()
  @ApiPropertyOptional({
    description:
      'E-mail domains of this identity provider. Users of these domains find it on the sign-in page, and it signs in no others. Default: none; then it signs in every address, by its link only.',
    type: [String],
    default: [],
    maxItems: MOST_DOMAINS,
    example: ['example.com'],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_DOMAINS)
  @AreDomains()
  readonly domains?: string[];

  @Switch('Whether it is in use. Default: true.', true)
  readonly enabled?: boolean;

  @Audited()
  @ApiPropertyOptional({
    description: 'Name of the claim that holds the groups of a user, as a list or a text. Default: `groups`.',
    default: DEFAULT_GROUPS_CLAIM,
    maxLength: LONGEST_TEXT,
  })
  @IfGiven()
  @Length(1, LONGEST_TEXT)
  @IsString()
  readonly groups_claim?: string;

  @ApiPropertyOptional({
    description:
      'Roles that the groups of a user give. A user without any of them is a member of the organization and of no workspace. Default: none.',
    type: [RoleMappingDto],
    default: [],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_MAPPINGS)
  @NestedList(() => RoleMappingDto)
  readonly role_mappings?: RoleMappingDto[];

  @Audited()
  @Switch('Whether a first sign-in creates a user. Default: false.', false)
  readonly create_users?: boolean;

  @Audited()
  @Switch(
    'Whether every sign-in sets the roles from `role_mappings`, and not only the first. Owners stay owners. Default: false.',
    false,
  )
  readonly roles_follow_directory?: boolean;
}

/** Changing the issuer requires the client secret again. */
export class UpdateIdentityProviderDto extends PartialType(OmitType(CreateIdentityProviderDto, ['id']), {
  skipNullProperties: false,
}) {}

export class IdentityProviderDto {
  @ApiObject('identity-provider')
  readonly object: 'identity-provider';

  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Name on the sign-in page.', example: 'Okta' })
  readonly name: string;

  @ApiProperty({
    description:
      'Issuer of the identity provider (OpenID Connect), exactly as its `/.well-known/openid-configuration` writes it.',
    example: AN_ISSUER,
  })
  readonly issuer: string;

  @ApiProperty({
    description: 'Client id under which the gateway is registered at the identity provider.',
    example: '0oa1b2c3',
  })
  readonly client_id: string;

  @ApiProperty({
    description:
      'Client secret of that registration. It is stored encrypted; responses show `***`. Leave it out of a change to keep it.',
    example: '***',
  })
  readonly client_secret: string;

  @ApiProperty({
    description: 'OpenID Connect scopes to request, at most 20. Default: `openid`, `email` and `profile`.',
    type: [String],
    example: DEFAULT_SCOPES,
  })
  readonly scopes: readonly string[];

  @ApiProperty({
    description:
      'E-mail domains of this identity provider. Users of these domains find it on the sign-in page, and it signs in no others. Default: none; then it signs in every address, by its link only.',
    type: [String],
    example: ['example.com'],
  })
  readonly domains: readonly string[];

  @ApiProperty({ description: 'Whether it is in use. Default: true.', example: true })
  readonly enabled: boolean;

  @ApiProperty({
    description: 'Name of the claim that holds the groups of a user, as a list or a text. Default: `groups`.',
    example: DEFAULT_GROUPS_CLAIM,
  })
  readonly groups_claim: string;

  @ApiProperty({
    description: 'Roles that the groups of a user give. Default: none.',
    type: [RoleMappingDto],
  })
  readonly role_mappings: readonly RoleMappingDto[];

  @ApiProperty({ description: 'Whether a first sign-in creates a user. Default: false.', example: false })
  readonly create_users: boolean;

  @ApiProperty({
    description:
      'Whether every sign-in sets the roles from `role_mappings`, and not only the first. Owners stay owners. Default: false.',
    example: false,
  })
  readonly roles_follow_directory: boolean;

  @ApiProperty({
    description:
      'Redirect URI to register at the identity provider. Each identity provider has its own, which ends with its id.',
    example: `https://gateway.example.com/v1/auth/single-sign-on/callback/${AN_ID}`,
  })
  readonly redirect_uri: string;

  @ApiProperty({
    description: 'Back-channel logout URI to register at the identity provider.',
    example: 'https://gateway.example.com/v1/auth/single-sign-on/back-channel-logout',
  })
  readonly back_channel_logout_uri: string;

  @ApiProperty({
    description: 'Link that starts a sign-in at this identity provider.',
    example: 'https://gateway.example.com/v1/auth/single-sign-on/start?provider=…',
  })
  readonly sign_in_url: string;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  static from(row: IdentityProvider, { callback, logout, start }: SignOnAddresses): IdentityProviderDto {
    return {
      object: 'identity-provider',
      ...{ id: row.id, name: row.name, issuer: row.issuer, client_id: row.clientId, client_secret: '***' },
      ...{ scopes: row.scopes, domains: row.domains, enabled: row.isEnabled },
      ...shownRules(row.rules as DirectoryRules),
      ...{ redirect_uri: callback(row.id), back_channel_logout_uri: logout, sign_in_url: start(row.id) },
      created_at: row.createdAt.toISOString(),
      last_updated_at: row.updatedAt.toISOString(),
    };
  }
}

export class IdentityProviderListDto extends ListOf(IdentityProviderDto) {
  static of(data: readonly IdentityProviderDto[]): IdentityProviderListDto {
    return { object: 'list', total: data.length, data };
  }
}

export const scopesOf = ({ scopes }: Pick<CreateIdentityProviderDto, 'scopes'>): string[] =>
  scopes ?? DEFAULT_SCOPES;

const DEFAULT_RULES: DirectoryRules = {
  groupsClaim: DEFAULT_GROUPS_CLAIM,
  roleMappings: [],
  createsUsers: false,
  rolesFollowDirectory: false,
};

export const directoryRulesOf = (
  dto: Partial<CreateIdentityProviderDto>,
  before: DirectoryRules = DEFAULT_RULES,
): DirectoryRules => ({
  groupsClaim: dto.groups_claim ?? before.groupsClaim,
  roleMappings: dto.role_mappings?.map(mappingOf) ?? before.roleMappings,
  createsUsers: dto.create_users ?? before.createsUsers,
  rolesFollowDirectory: dto.roles_follow_directory ?? before.rolesFollowDirectory,
});

const shownRules = ({ groupsClaim, roleMappings, createsUsers, rolesFollowDirectory }: DirectoryRules) => ({
  groups_claim: groupsClaim,
  role_mappings: roleMappings.map(shownMapping),
  create_users: createsUsers,
  roles_follow_directory: rolesFollowDirectory,
});
