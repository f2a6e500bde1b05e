import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsObject, IsUUID } from 'class-validator';
import { AreEmailAddresses } from '../../common/http/email-address.js';
import { Nested, HasNoEffectYet, IfGiven, IsIdOrSlug, OrNull } from '../../common/http/validators.js';
import {
  AN_ID,
  TakesName,
  MayTakeName,
  MayTakeNote,
  MayTakeExpiry,
  MayTakeOrganization,
  MayTakeWorkspace,
  TakesScopes,
  MayTakeScopes,
  MayResetUsage,
} from '../dto-fields/fields.js';
import {
  type RateLimitDto,
  RateLimits,
  TakesLimits,
  UsageLimits,
  type UsageLimitsDto,
} from '../dto-fields/limit.dto.js';
import { ApiKeyDefaultsDto } from './api-key-defaults.dto.js';
import { Audited } from '../dto-fields/audited.js';

const NO_SCHEDULE = 'automatic rotation is not supported yet; rotate the key with a request';

const MOST_EMAILS = 20;

/** Fields that can be set on creation and changed later. */
@TakesLimits()
class ChangeableApiKeyFields {
  @MayTakeNote('Free text: what the resource is for. Null if there is none.', 'Nightly batch jobs')
  readonly description?: string | null;

  @MayTakeExpiry()
  readonly expires_at?: string | null;

  @RateLimits()
  readonly rate_limits?: RateLimitDto[] | null;

  @UsageLimits()
  readonly usage_limits?: UsageLimitsDto[] | null;

  @ApiPropertyOptional({
    description: 'Settings for requests with this key. Default: none.',
    type: ApiKeyDefaultsDto,
  })
  @IfGiven()
  @IsObject()
  @Nested(() => ApiKeyDefaultsDto)
  readonly defaults?: ApiKeyDefaultsDto;

  @ApiPropertyOptional({
    description:
      'Addresses that receive alerts about the budgets of this key, beside owners, admins and the owner of the key. Default: none.',
    type: [String],
    format: 'email',
    nullable: true,
    example: ['team@example.com'],
  })
  @OrNull()
  @IsArray()
  @ArrayMaxSize(MOST_EMAILS)
  @AreEmailAddresses()
  readonly alert_emails?: string[] | null;

  @HasNoEffectYet(NO_SCHEDULE)
  readonly rotation_policy?: unknown;
}

export class CreateApiKeyDto extends ChangeableApiKeyFields {
  @Audited()
  @TakesName('checkout-service')
  readonly name: string;

  @TakesScopes('logs.list', 'logs.view')
  readonly scopes: string[];

  @MayTakeOrganization()
  readonly organisation_id?: string;

  /** The compatible SDK repeats both parts of the path here. */
  @ApiHideProperty()
  @IfGiven()
  @IsIn(['organisation', 'workspace'])
  readonly type?: string;

  @ApiHideProperty()
  @IfGiven()
  @IsIn(['service', 'user'])
  readonly 'sub-type'?: string;
}

export class CreateWorkspaceServiceKeyDto extends CreateApiKeyDto {
  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

export class CreateWorkspaceUserKeyDto extends CreateWorkspaceServiceKeyDto {
  @Audited()
  @ApiPropertyOptional({
    description:
      'Id of the user to whom the key belongs. Default: the user who creates it, or on whose authority the creating key acts.',
    format: 'uuid',
    example: AN_ID,
  })
  @IfGiven()
  @IsUUID()
  readonly user_id?: string;
}

export class UpdateApiKeyDto extends ChangeableApiKeyFields {
  @Audited()
  @MayTakeName('checkout-service')
  readonly name?: string;

  @MayTakeScopes('completions.write')
  readonly scopes?: string[];

  @MayResetUsage()
  readonly reset_usage?: boolean;

  /** The compatible SDK repeats the id of the path here. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly id?: string;
}

const MOST_REVOKED = 1_000;

export class RevokeApiKeysDto {
  @Audited()
  @ApiProperty({
    description: 'Ids of the keys to revoke, at most 1000. If one cannot be revoked, none is.',
    type: [String],
    format: 'uuid',
    maxItems: MOST_REVOKED,
    example: [AN_ID],
  })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_REVOKED)
  @IsUUID(undefined, { each: true })
  readonly ids: string[];
}
