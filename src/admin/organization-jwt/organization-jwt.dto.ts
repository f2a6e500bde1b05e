import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
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
  DEFAULT_NEWCOMERS,
  DEFAULT_TOKEN_TYPES,
  type TokenRules,
} from '../../auth/tokens/token-rules.js';
import type { OrganizationJwt } from './organization-jwt.entity.js';
import { IfGiven } from '../../common/http/validators.js';
import { ApiIdOrNull } from '../dto-fields/fields.js';
import { NewcomersDto, newcomersOf, shownNewcomers } from './newcomers.dto.js';

const MOST = 20;
const LONGEST = 255;
const LONGEST_LIFETIME_SECONDS = 7 * 86_400;
const CLAIM = /^[A-Za-z_][\w.:/-]{0,127}$/;
const CLAIM_RULE = 'each must be the name of a claim';

/** A list of distinct, non-empty texts. */
const Texts = (): PropertyDecorator =>
  applyDecorators(
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(MOST),
    ArrayUnique(),
    IsString({ each: true }),
    Matches(/^[^\p{Cc}]+$/u, { each: true, message: 'each must be a string without control characters' }),
    MaxLength(LONGEST, { each: true }),
  );

const ClaimNames = (): PropertyDecorator =>
  applyDecorators(IfGiven(), Texts(), Matches(CLAIM, { each: true, message: CLAIM_RULE }));

/** Claim names by meaning. The first one that a token contains is used. */
export class ClaimNamesDto {
  /** Identifies the user, by email address or id. */
  @ApiPropertyOptional({ type: [String], default: DEFAULT_CLAIMS.user })
  @ClaimNames()
  readonly user?: string[];

  @ApiPropertyOptional({ type: [String], default: DEFAULT_CLAIMS.organisation })
  @ClaimNames()
  readonly organisation?: string[];

  @ApiPropertyOptional({ type: [String], default: DEFAULT_CLAIMS.workspace })
  @ClaimNames()
  readonly workspace?: string[];

  @ApiPropertyOptional({ type: [String], default: DEFAULT_CLAIMS.scopes })
  @ClaimNames()
  readonly scopes?: string[];

  /** Contains the groups or roles of `role_mappings`. */
  @ApiPropertyOptional({ type: [String], default: DEFAULT_CLAIMS.roles })
  @ClaimNames()
  readonly roles?: string[];
}

export class SetOrganizationJwtDto extends NewcomersDto {
  /** Accepted values of `iss`. */
  @ApiProperty({ type: [String], example: ['https://id.example.com/'] })
  @Texts()
  readonly issuers: string[];

  /** Values of `aud`; a token must have one of them. */
  @ApiProperty({ type: [String], example: ['gatehouse'] })
  @Texts()
  readonly audiences: string[];

  /** URL of the issuer's keys. Either this or `jwks`. */
  @ApiPropertyOptional({ example: 'https://id.example.com/.well-known/jwks.json' })
  @IfGiven()
  @IsString()
  @MaxLength(2048)
  readonly jwks_uri?: string;

  /** The keys themselves, as a JSON Web Key Set. */
  @ApiPropertyOptional({ type: Object, additionalProperties: true, example: { keys: [] } })
  @IfGiven()
  @IsObject()
  readonly jwks?: object;

  @ApiPropertyOptional({ enum: SIGNATURE_ALGORITHMS, isArray: true, default: DEFAULT_ALGORITHMS })
  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(SIGNATURE_ALGORITHMS, { each: true })
  readonly algorithms?: SignatureAlgorithm[];

  /** Accepted values of the header `typ`. A token without one counts as `JWT`. */
  @ApiPropertyOptional({ type: [String], default: DEFAULT_TOKEN_TYPES })
  @IfGiven()
  @Texts()
  readonly token_types?: string[];

  /** Maximum lifetime, from issue to expiry. */
  @ApiPropertyOptional({
    minimum: 60,
    maximum: LONGEST_LIFETIME_SECONDS,
    default: DEFAULT_MAX_LIFETIME_SECONDS,
  })
  @IfGiven()
  @IsInt()
  @Min(60)
  @Max(LONGEST_LIFETIME_SECONDS)
  readonly max_lifetime_seconds?: number;

  /** Whether tokens may stand for owners. A token needs neither a step-up nor a second factor. */
  @ApiPropertyOptional({ default: false })
  @IfGiven()
  @IsBoolean()
  readonly allow_owners?: boolean;

  @ApiPropertyOptional({ type: ClaimNamesDto })
  @IfGiven()
  @IsObject()
  @ValidateNested()
  @Type(() => ClaimNamesDto)
  readonly claims?: ClaimNamesDto;
}

/** The rules in a request, with defaults for omitted fields. */
export function rulesOf(dto: SetOrganizationJwtDto): TokenRules {
  return {
    issuers: dto.issuers,
    audiences: dto.audiences,
    algorithms: dto.algorithms ?? DEFAULT_ALGORITHMS,
    tokenTypes: (dto.token_types ?? DEFAULT_TOKEN_TYPES).map((type) => type.toLowerCase()),
    maxLifetimeSeconds: dto.max_lifetime_seconds ?? DEFAULT_MAX_LIFETIME_SECONDS,
    claims: claimsOf(dto.claims ?? {}),
    newcomers: newcomersOf(dto),
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
  @ApiProperty({ type: String, nullable: true, example: '2030-a' })
  readonly kid: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'RS256' })
  readonly alg: string | null;
}

/** The current setting. Public keys are listed by name. */
export class OrganizationJwtDto extends NewcomersDto {
  @ApiProperty({ enum: ['organisation-jwt'] }) readonly object = 'organisation-jwt';
  @ApiProperty({ type: [String], example: ['https://id.example.com/'] }) readonly issuers: readonly string[];
  @ApiProperty({ type: [String], example: ['gatehouse'] }) readonly audiences: readonly string[];
  @ApiProperty({ enum: SIGNATURE_ALGORITHMS, isArray: true }) readonly algorithms: readonly string[];
  @ApiProperty({ type: [String], example: DEFAULT_TOKEN_TYPES }) readonly token_types: readonly string[];
  @ApiProperty({ example: DEFAULT_MAX_LIFETIME_SECONDS }) readonly max_lifetime_seconds: number;
  @ApiProperty({ example: false }) readonly allow_owners: boolean;

  /**
   * The owner who last set it. A token cannot stand for a user above the current role of this owner, and none is accepted once they no
   * longer administer the organization. Null in settings of 0.1.0, which count as an admin's.
   */
  @ApiIdOrNull()
  readonly set_by: string | null;

  @ApiProperty({ type: ClaimNamesDto }) readonly claims: TokenRules['claims'];
  @ApiProperty({ type: String, nullable: true }) readonly jwks_uri: string | null;
  @ApiProperty({ type: [KeyOfJwtDto] }) readonly keys: readonly KeyOfJwtDto[];

  /** When the keys were last fetched; null when they were given, or not fetched yet. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) readonly fetched_at: string | null;

  /** The error of the last fetch. */
  @ApiProperty({ type: String, nullable: true, example: 'it returned status 500' })
  readonly problem: string | null;

  @ApiProperty({ format: 'date-time' }) readonly last_updated_at: string;

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
      ...shownNewcomers(rules.newcomers ?? DEFAULT_NEWCOMERS),
      jwks_uri: row.jwksUri,
      keys: keys.map(({ kid, alg }) => ({ kid, alg })),
      fetched_at: row.fetchedAt?.toISOString() ?? null,
      problem: row.problem,
      last_updated_at: row.updatedAt.toISOString(),
    };
  }
}
