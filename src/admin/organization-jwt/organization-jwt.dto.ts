import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import {
  SIGNATURE_ALGORITHMS,
  type SignatureAlgorithm,
} from '../../common/contracts/signature-algorithms.js';
import type { StoredKey } from '../../auth/tokens/key-set.js';
import {
  DEFAULT_ALGORITHMS,
  DEFAULT_CLAIMS,
  DEFAULT_MAX_LIFETIME_SECONDS,
  DEFAULT_UNKNOWN_USER_RULES,
  DEFAULT_TOKEN_TYPES,
  type TokenRules,
} from '../../auth/tokens/token-rules.js';
import type { OrganizationJwt } from './organization-jwt.entity.js';
import { Nested, IfGiven } from '../../common/http/validators.js';
import {
  ApiIdOrNull,
  ApiObject,
  ApiLastUpdatedAt,
  ApiMomentOrNull,
  ApiTextOrNull,
} from '../dto-fields/fields.js';
import { UnknownUserRulesDto, unknownUserRules, shownUnknownUserRules } from './newcomers.dto.js';
import { Audited } from '../dto-fields/audited.js';
import { ClaimNamesDto, Texts } from './claim-names.dto.js';

const LONGEST_LIFETIME_SECONDS = 7 * 86_400;

export class SetOrganizationJwtDto extends UnknownUserRulesDto {
  @Audited()
  @ApiProperty({
    description: 'Accepted values of the claim `iss`, 1 to 20.',
    type: [String],
    example: ['https://id.example.com/'],
  })
  @Texts()
  readonly issuers: string[];

  @Audited()
  @ApiProperty({
    description: 'Accepted values of the claim `aud`, 1 to 20. A token must have one of them.',
    type: [String],
    example: ['gatehouse'],
  })
  @Texts()
  readonly audiences: string[];

  @ApiPropertyOptional({
    description: 'URL at which the issuer publishes its keys. Give either this or `jwks`.',
    example: 'https://id.example.com/.well-known/jwks.json',
  })
  @IfGiven()
  @IsString()
  @MaxLength(2048)
  readonly jwks_uri?: string;

  @ApiPropertyOptional({
    description: 'The public keys themselves, as a JSON Web Key Set. Give either this or `jwks_uri`.',
    type: Object,
    additionalProperties: true,
    example: { keys: [] },
  })
  @IfGiven()
  @IsObject()
  readonly jwks?: object;

  @Audited()
  @ApiPropertyOptional({
    description: 'Accepted signature algorithms. Default: RS256, PS256, ES256 and EdDSA.',
    enum: SIGNATURE_ALGORITHMS,
    isArray: true,
    default: DEFAULT_ALGORITHMS,
  })
  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(SIGNATURE_ALGORITHMS, { each: true })
  readonly algorithms?: SignatureAlgorithm[];

  @Audited()
  @ApiPropertyOptional({
    description:
      'Accepted values of the header `typ`; a token without one counts as `JWT`. Default: `jwt` and `at+jwt`.',
    type: [String],
    default: DEFAULT_TOKEN_TYPES,
  })
  @IfGiven()
  @Texts()
  readonly token_types?: string[];

  @Audited()
  @ApiPropertyOptional({
    description: 'Longest accepted lifetime of a token in seconds, 60 to 604,800. Default: 86,400 (one day).',
    minimum: 60,
    maximum: LONGEST_LIFETIME_SECONDS,
    default: DEFAULT_MAX_LIFETIME_SECONDS,
  })
  @IfGiven()
  @IsInt()
  @Min(60)
  @Max(LONGEST_LIFETIME_SECONDS)
  readonly max_lifetime_seconds?: number;

  @ApiPropertyOptional({
    description:
      'Whether tokens may stand for owners. Default: false. They need no step-up and no second factor.',
    default: false,
  })
  @IfGiven()
  @IsBoolean()
  readonly allow_owners?: boolean;

  @ApiPropertyOptional({
    description:
      'Names of the claims from which the gateway reads a token. Default: those of the fields below.',
    type: ClaimNamesDto,
  })
  @IfGiven()
  @IsObject()
  @Nested(() => ClaimNamesDto)
  readonly claims?: ClaimNamesDto;
}

/** The rules in a request, with defaults for omitted fields. */
export function tokenRulesOf(dto: SetOrganizationJwtDto): TokenRules {
  return {
    issuers: dto.issuers,
    audiences: dto.audiences,
    algorithms: dto.algorithms ?? DEFAULT_ALGORITHMS,
    tokenTypes: (dto.token_types ?? DEFAULT_TOKEN_TYPES).map((type) => type.toLowerCase()),
    maxLifetimeSeconds: dto.max_lifetime_seconds ?? DEFAULT_MAX_LIFETIME_SECONDS,
    claims: claimsOf(dto.claims ?? {}),
    newcomers: unknownUserRules(dto),
    allowsOwners: dto.allow_owners ?? false,
  };
}

function claimsOf({ user, organisation, workspace, scopes, roles }: ClaimNamesDto): TokenRules['claims'] {
  return {
    user: user ?? DEFAULT_CLAIMS.user,
    organisation: organisation ?? DEFAULT_CLAIMS.organisation,
    workspace: workspace ?? DEFAULT_CLAIMS.workspace,
    scopes: scopes ?? DEFAULT_CLAIMS.scopes,
    roles: roles ?? DEFAULT_CLAIMS.roles,
  };
}

class KeyOfJwtDto {
  @ApiProperty({
    description: 'Key id of the public key. Null if it has none.',
    type: String,
    nullable: true,
    example: '2030-a',
  })
  readonly kid: string | null;

  @ApiProperty({
    description: 'Signature algorithm of the public key. Null if it names none.',
    type: String,
    nullable: true,
    example: 'RS256',
  })
  readonly alg: string | null;
}

/** The current setting. Public keys are listed by name. */
export class OrganizationJwtDto extends UnknownUserRulesDto {
  @ApiObject('organisation-jwt') readonly object = 'organisation-jwt';
  @ApiProperty({
    description: 'Accepted values of the claim `iss`, 1 to 20.',
    type: [String],
    example: ['https://id.example.com/'],
  })
  readonly issuers: readonly string[];
  @ApiProperty({
    description: 'Accepted values of the claim `aud`, 1 to 20. A token must have one of them.',
    type: [String],
    example: ['gatehouse'],
  })
  readonly audiences: readonly string[];
  @ApiProperty({
    description: 'Accepted signature algorithms. Default: RS256, PS256, ES256 and EdDSA.',
    enum: SIGNATURE_ALGORITHMS,
    isArray: true,
  })
  readonly algorithms: readonly string[];
  @ApiProperty({
    description:
      'Accepted values of the header `typ`; a token without one counts as `JWT`. Default: `jwt` and `at+jwt`.',
    type: [String],
    example: DEFAULT_TOKEN_TYPES,
  })
  readonly token_types: readonly string[];
  @ApiProperty({
    description: 'Longest accepted lifetime of a token in seconds, 60 to 604,800. Default: 86,400 (one day).',
    example: DEFAULT_MAX_LIFETIME_SECONDS,
  })
  readonly max_lifetime_seconds: number;
  @ApiProperty({
    description:
      'Whether tokens may stand for owners. Default: false. They need no step-up and no second factor.',
    example: false,
  })
  readonly allow_owners: boolean;

  @ApiIdOrNull(
    'Id of the owner who saved the setting last. Tokens give no more than this user has now, and none is accepted once the user no longer administers the organization. Null if it dates from 0.1.0.',
  )
  readonly set_by: string | null;

  @ApiProperty({
    description: 'Names of the claims from which the gateway reads a token.',
    type: ClaimNamesDto,
  })
  readonly claims: TokenRules['claims'];
  @ApiTextOrNull('URL at which the issuer publishes its keys. Null if the keys were given.')
  readonly jwks_uri: string | null;
  @ApiProperty({ description: 'Public keys that are in use.', type: [KeyOfJwtDto] })
  readonly keys: readonly KeyOfJwtDto[];

  @ApiMomentOrNull('Time at which the keys were last fetched. Null if they were given, or not fetched yet.')
  readonly fetched_at: string | null;

  @ApiProperty({
    description: 'What was wrong with the last fetch of the keys. Null if it succeeded.',
    type: String,
    nullable: true,
    example: 'it returned status 500',
  })
  readonly problem: string | null;

  @ApiLastUpdatedAt() readonly last_updated_at: string;

  static from(row: OrganizationJwt): OrganizationJwtDto {
    const rules = row.rules as TokenRules;
    const keys = (row.keys ?? []) as StoredKey[];
    return {
      object: 'organisation-jwt',
      issuers: rules.issuers,
      audiences: rules.audiences,
      algorithms: rules.algorithms,
      token_types: rules.tokenTypes,
      max_lifetime_seconds: rules.maxLifetimeSeconds,
      allow_owners: rules.allowsOwners ?? false,
      set_by: row.authorId,
      claims: { ...rules.claims, roles: rules.claims.roles ?? DEFAULT_CLAIMS.roles },
      ...shownUnknownUserRules(rules.newcomers ?? DEFAULT_UNKNOWN_USER_RULES),
      jwks_uri: row.jwksUri,
      keys: keys.map(({ kid, alg }) => ({ kid, alg })),
      fetched_at: row.fetchedAt?.toISOString() ?? null,
      problem: row.problem,
      last_updated_at: row.updatedAt.toISOString(),
    };
  }
}
