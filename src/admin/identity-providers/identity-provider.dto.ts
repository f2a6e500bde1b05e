import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, OmitType, PartialType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
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
import { normalizeEmail } from '../../common/http/normal-email.js';
import { IfGiven, rule, ValidateEach } from '../../common/http/validators.js';
import { AN_ID, ApiId, ApiMoment, TakesName } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { mappingOf, RoleMappingDto, shownMapping } from '../dto-fields/role-mapping.dto.js';
import type { DirectoryRules } from '../openid-connect/directory-rules.js';
import type { SignOnAddresses } from '../openid-connect/saved-providers.service.js';

const LONGEST_TEXT = 255;
const LONGEST_ISSUER = 2_000;
const LONGEST_SECRET = 4_096;
const MOST_DOMAINS = 100;
const MOST_MAPPINGS = 500;
const MOST_SCOPES = 20;
const DEFAULT_SCOPES = ['openid', 'email', 'profile'];
const DEFAULT_GROUPS_CLAIM = 'groups';
const AN_ISSUER = 'https://login.example.com';

/** A normalized mail domain, or null. */
export const domainOf = (text: string): string | null => normalizeEmail(`a@${text}`)?.slice(2) ?? null;

const AreDomains = (): PropertyDecorator =>
  rule(
    'areDomains',
    'each must be a mail domain such as example.com',
    (value) =>
      Array.isArray(value) && value.every((each) => typeof each === 'string' && domainOf(each) !== null),
  );

const HasOpenId = (): PropertyDecorator =>
  rule(
    'hasOpenId',
    '"openid" must be among them',
    (value) => Array.isArray(value) && value.includes('openid'),
  );

const Switch = (byDefault: boolean): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ default: byDefault }), IfGiven(), IsBoolean());

export class CreateIdentityProviderDto {
  /** A reserved id, whose redirect URI is registered at the provider already. Default: a new one. */
  @ApiPropertyOptional({ format: 'uuid', example: AN_ID })
  @IfGiven()
  @IsUUID()
  readonly id?: string;

  @TakesName('Okta')
  readonly name: string;

  /** Exactly as in the provider's `/.well-known/openid-configuration`. */
  @ApiProperty({ example: AN_ISSUER, maxLength: LONGEST_ISSUER })
  @Matches(/^https?:\/\/[!-~]+$/, {
    message: 'it must be http:// or https:// with a host, and only printable ASCII characters',
  })
  @Length(1, LONGEST_ISSUER)
  @IsString()
  readonly issuer: string;

  @ApiProperty({ example: '0oa1b2c3', maxLength: LONGEST_TEXT })
  @Length(1, LONGEST_TEXT)
  @IsString()
  readonly client_id: string;

  /** Sealed when saved and never shown again. */
  @ApiProperty({ writeOnly: true, maxLength: LONGEST_SECRET, example: 'a-secret-of-the-provider' })
  @Matches(/^[!-~]+$/, { message: 'it must be printable ASCII without spaces' })
  @Length(1, LONGEST_SECRET)
  @IsString()
  readonly client_secret: string;

  @ApiPropertyOptional({ type: [String], default: DEFAULT_SCOPES, maxItems: MOST_SCOPES })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_SCOPES)
  @ArrayUnique()
  @Matches(/^[!#-[\]-~]{1,255}$/, { each: true, message: 'each must be a scope without spaces and quotes' })
  @HasOpenId()
  readonly scopes?: string[];

  /**
   * Mail domains. Users with such addresses see the provider on the sign-in page, and it signs in no others. Without any, the provider is
   * only reachable by its link and signs in every address.
   */
  @ApiPropertyOptional({ type: [String], default: [], maxItems: MOST_DOMAINS, example: ['example.com'] })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_DOMAINS)
  @AreDomains()
  readonly domains?: string[];

  @Switch(true)
  readonly enabled?: boolean;

  /** The claim with a user's groups: a list, or a text separated by spaces or commas. */
  @ApiPropertyOptional({ default: DEFAULT_GROUPS_CLAIM, maxLength: LONGEST_TEXT })
  @IfGiven()
  @Length(1, LONGEST_TEXT)
  @IsString()
  readonly groups_claim?: string;

  /** The role that each group gives. A user without any of them is a member of the organization and of no workspace. */
  @ApiPropertyOptional({ type: [RoleMappingDto], default: [] })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_MAPPINGS)
  @ValidateEach()
  @Type(() => RoleMappingDto)
  readonly role_mappings?: RoleMappingDto[];

  /** Whether an unknown user is created at the first sign-in. */
  @Switch(false)
  readonly create_users?: boolean;

  /** Whether each sign-in sets the roles again. Owners stay owners. */
  @Switch(false)
  readonly roles_follow_directory?: boolean;
}

/** Changing the issuer requires the client secret again. */
export class UpdateIdentityProviderDto extends PartialType(OmitType(CreateIdentityProviderDto, ['id']), {
  skipNullProperties: false,
}) {}

export class IdentityProviderDto {
  @ApiProperty({ enum: ['identity-provider'] })
  readonly object = 'identity-provider';

  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'Okta' })
  readonly name: string;

  @ApiProperty({ example: AN_ISSUER })
  readonly issuer: string;

  @ApiProperty({ example: '0oa1b2c3' })
  readonly client_id: string;

  /** Never the secret itself. */
  @ApiProperty({ example: '***' })
  readonly client_secret: string;

  @ApiProperty({ type: [String], example: DEFAULT_SCOPES })
  readonly scopes: readonly string[];

  @ApiProperty({ type: [String], example: ['example.com'] })
  readonly domains: readonly string[];

  @ApiProperty({ example: true })
  readonly enabled: boolean;

  @ApiProperty({ example: DEFAULT_GROUPS_CLAIM })
  readonly groups_claim: string;

  @ApiProperty({ type: [RoleMappingDto] })
  readonly role_mappings: readonly RoleMappingDto[];

  @ApiProperty({ example: false })
  readonly create_users: boolean;

  @ApiProperty({ example: false })
  readonly roles_follow_directory: boolean;

  /** Redirect URI to enter at the provider. Each provider has its own. */
  @ApiProperty({ example: `https://gateway.example.com/v1/auth/single-sign-on/callback/${AN_ID}` })
  readonly redirect_uri: string;

  /** Address for logout notifications to enter at the provider. */
  @ApiProperty({ example: 'https://gateway.example.com/v1/auth/single-sign-on/back-channel-logout' })
  readonly back_channel_logout_uri: string;

  /** The link to sign in with this provider. */
  @ApiProperty({ example: 'https://gateway.example.com/v1/auth/single-sign-on/start?provider=…' })
  readonly sign_in_url: string;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  static from(row: IdentityProvider, { callback, logout, start }: SignOnAddresses): IdentityProviderDto {
    return Object.assign(new IdentityProviderDto(), {
      ...{ id: row.id, name: row.name, issuer: row.issuer, client_id: row.clientId, client_secret: '***' },
      ...{ scopes: row.scopes, domains: row.domains, enabled: row.isEnabled },
      ...shownRules(row.rules as DirectoryRules),
      ...{ redirect_uri: callback(row.id), back_channel_logout_uri: logout, sign_in_url: start(row.id) },
      created_at: row.createdAt.toISOString(),
      last_updated_at: row.updatedAt.toISOString(),
    });
  }
}

export class IdentityProviderListDto extends ListOf(IdentityProviderDto) {
  static of(data: readonly IdentityProviderDto[]): IdentityProviderListDto {
    return Object.assign(new IdentityProviderListDto(), { total: data.length, data });
  }
}

export const scopesOf = ({ scopes }: Pick<CreateIdentityProviderDto, 'scopes'>): string[] =>
  scopes ?? DEFAULT_SCOPES;

export const domainsOf = (domains: readonly string[]): string[] => [
  ...new Set(domains.map((domain) => domainOf(domain) ?? domain)),
];

const DEFAULT_RULES: DirectoryRules = {
  groupsClaim: DEFAULT_GROUPS_CLAIM,
  roleMappings: [],
  createsUsers: false,
  rolesFollowDirectory: false,
};

export const rulesOf = (
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
