import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';
import { DEFAULT_CLAIMS } from '../../auth/tokens/token-rules.js';
import { IfGiven } from '../../common/http/validators.js';

const MOST = 20;
const LONGEST = 255;
const CLAIM = /^[A-Za-z_][\w.:/-]{0,127}$/;
const CLAIM_RULE = 'each must be the name of a claim';

/** A list of distinct, non-empty texts. */
export const Texts = (): PropertyDecorator =>
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
  @ApiPropertyOptional({
    description: 'Claims that identify the user by e-mail address or id. The first that is present counts.',
    type: [String],
    default: DEFAULT_CLAIMS.user,
  })
  @ClaimNames()
  readonly user?: string[];

  @ApiPropertyOptional({
    description: 'Claims that name the organization. The first that is present counts.',
    type: [String],
    default: DEFAULT_CLAIMS.organisation,
  })
  @ClaimNames()
  readonly organisation?: string[];

  @ApiPropertyOptional({
    description: 'Claims that name the workspace. The first that is present counts.',
    type: [String],
    default: DEFAULT_CLAIMS.workspace,
  })
  @ClaimNames()
  readonly workspace?: string[];

  @ApiPropertyOptional({
    description: 'Claims that hold the scopes of the token. The first that is present counts.',
    type: [String],
    default: DEFAULT_CLAIMS.scopes,
  })
  @ClaimNames()
  readonly scopes?: string[];

  @ApiPropertyOptional({
    description:
      'Claims that hold the groups or roles for `role_mappings`. The first that is present counts.',
    type: [String],
    default: DEFAULT_CLAIMS.roles,
  })
  @ClaimNames()
  readonly roles?: string[];
}
