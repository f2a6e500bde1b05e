import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsUUID,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import type { ApiKey } from './api-key.entity.js';
import { AreEmailAddresses } from '../../common/http/email-address.js';
import { HasNoEffectYet, IfGiven, IsIdOrSlug, OrNull } from '../../common/http/validators.js';
import {
  AN_ID,
  ApiId,
  ApiIdOrNull,
  ApiMoment,
  ApiMomentOrNull,
  ApiTextOrNull,
  TakesName,
  TakesScopes,
  MayTakeName,
  MayTakeScopes,
  MayTakeWorkspace,
  MayTakeNote,
  MayTakeExpiry,
} from '../dto-fields/fields.js';
import {
  type RateLimitDto,
  RateLimits,
  type ShownRateLimitDto,
  ShownRateLimits,
  ShownUsageLimits,
  ShowsLimits,
  TakesLimits,
  type ShownUsageLimitsDto,
  UsageLimits,
  type UsageLimitsDto,
} from '../dto-fields/limit.dto.js';
import {
  isExhausted,
  NO_USAGE,
  shownBudgetOrList,
  shownRates,
  type BudgetUsage,
} from '../limits/limits.service.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { ApiKeyDefaultsDto } from './api-key-defaults.dto.js';
import type { LastUse } from './key-use.service.js';

const NO_SCHEDULE = 'automatic rotation is not supported yet; rotate the key with a request';

const MOST_EMAILS = 20;

/** Fields that can be set on creation and changed later. */
@TakesLimits()
class ChangeableApiKeyFields {
  @MayTakeNote('Nightly batch jobs')
  readonly description?: string | null;

  @MayTakeExpiry()
  readonly expires_at?: string | null;

  @RateLimits()
  readonly rate_limits?: RateLimitDto[] | null;

  @UsageLimits()
  readonly usage_limits?: UsageLimitsDto[] | null;

  @ApiPropertyOptional({ type: ApiKeyDefaultsDto })
  @IfGiven()
  @IsObject()
  @ValidateNested()
  @Type(() => ApiKeyDefaultsDto)
  readonly defaults?: ApiKeyDefaultsDto;

  /** Addresses that are notified about its budgets, besides owners, admins and the owner of the key. */
  @ApiPropertyOptional({ type: [String], format: 'email', nullable: true, example: ['team@example.com'] })
  @OrNull()
  @IsArray()
  @ArrayMaxSize(MOST_EMAILS)
  @AreEmailAddresses()
  readonly alert_emails?: string[] | null;

  @HasNoEffectYet(NO_SCHEDULE)
  readonly rotation_policy?: unknown;
}

export class CreateApiKeyDto extends ChangeableApiKeyFields {
  @TakesName('checkout-service')
  readonly name: string;

  @TakesScopes('logs.list', 'logs.view')
  readonly scopes: string[];

  /** Only the caller's own; optional. */
  @ApiPropertyOptional({ format: 'uuid', example: AN_ID })
  @IfGiven()
  @IsUUID()
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
  /** Id or slug. A workspace key may omit it: it has only one. */
  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

export class CreateWorkspaceUserKeyDto extends CreateWorkspaceServiceKeyDto {
  /** Owner of the key. Default: the creator's own user, or else the organization's owner. */
  @ApiPropertyOptional({ format: 'uuid', example: AN_ID })
  @IfGiven()
  @IsUUID()
  readonly user_id?: string;
}

export class UpdateApiKeyDto extends ChangeableApiKeyFields {
  @MayTakeName('checkout-service')
  readonly name?: string;

  @MayTakeScopes('completions.write')
  readonly scopes?: string[];

  /** True resets the use of budgets and rates. Concurrency counts running requests and is not reset. */
  @ApiPropertyOptional({ example: true })
  @IfGiven()
  @IsBoolean()
  readonly reset_usage?: boolean;

  /** The compatible SDK repeats the id of the path here. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly id?: string;
}

const MOST_REVOKED = 1_000;

export class RevokeApiKeysDto {
  @ApiProperty({ type: [String], format: 'uuid', maxItems: MOST_REVOKED, example: [AN_ID] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_REVOKED)
  @IsUUID(undefined, { each: true })
  readonly ids: string[];
}

export class RevokedApiKeysDto {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  /** Ids of the revoked keys. */
  @ApiProperty({ type: [String], example: [AN_ID] })
  readonly revoked: readonly string[];

  static of(revoked: readonly string[]): RevokedApiKeysDto {
    return Object.assign(new RevokedApiKeysDto(), { revoked });
  }
}

const HALF_AN_HOUR_MS = 30 * 60_000;
const SEVEN_DAYS_MS = 7 * 24 * 60 * 60_000;

export class RotateApiKeyDto {
  /**
   * How long the old secret continues to work, in milliseconds; default: half an hour. 0 ends every old secret at once. Other values are
   * refused with 409 while the secret before the last rotation still works.
   */
  @ApiPropertyOptional({
    minimum: 0,
    maximum: SEVEN_DAYS_MS,
    default: HALF_AN_HOUR_MS,
    example: HALF_AN_HOUR_MS,
  })
  @IfGiven()
  @IsInt()
  @Min(0)
  @Max(SEVEN_DAYS_MS)
  readonly key_transition_period_ms: number = HALF_AN_HOUR_MS;
}

/** The only response that shows the secret. */
export class CreatedApiKeyDto {
  @ApiId()
  readonly id: string;

  /** The secret. It is never shown again. */
  @ApiProperty({ example: 'gw_ws_<49 characters>' })
  readonly key: string;

  @ApiProperty({ enum: ['api-key'] })
  readonly object = 'api-key';

  static from({ id }: ApiKey, secret: string): CreatedApiKeyDto {
    return Object.assign(new CreatedApiKeyDto(), { id, key: secret });
  }
}

export class RotatedApiKeyDto {
  @ApiId()
  readonly id: string;

  /** The new secret. It is never shown again. */
  @ApiProperty({ example: 'gw_ws_<49 characters>' })
  readonly key: string;

  /** When the old secret stops working. */
  @ApiProperty({ format: 'date-time', example: '2030-01-31T12:30:00.000Z' })
  readonly key_transition_expires_at: string;

  static from({ id }: ApiKey, secret: string, endsAt: Date): RotatedApiKeyDto {
    return Object.assign(new RotatedApiKeyDto(), {
      id,
      key: secret,
      key_transition_expires_at: endsAt.toISOString(),
    });
  }
}

/** An API key as the API shows it, without its secret. */
@ShowsLimits()
export class ApiKeyDto {
  @ApiId()
  readonly id: string;

  /** The displayable part of the secret: its kind and last four characters. */
  @ApiProperty({ example: 'gw_ws_***x7Qf' })
  readonly key: string;

  @ApiProperty({ example: 'checkout-service' })
  readonly name: string;

  @ApiTextOrNull()
  readonly description: string | null;

  @ApiProperty({ enum: ['organisation-service', 'workspace-service', 'workspace-user'] })
  readonly type: ApiKeyType;

  @ApiId()
  readonly organisation_id: string;

  @ApiIdOrNull()
  readonly workspace_id: string | null;

  @ApiIdOrNull(null)
  readonly user_id: string | null;

  @ApiProperty({ enum: ['active', 'exhausted', 'expired'] })
  readonly status: 'active' | 'exhausted' | 'expired';

  @ApiProperty({ type: [String], example: ['logs.list', 'logs.view'] })
  readonly scopes: string[];

  @ShownRateLimits()
  readonly rate_limits: readonly ShownRateLimitDto[] | null;

  /** A list when there are several. */
  @ShownUsageLimits()
  readonly usage_limits: ShownUsageLimitsDto | readonly ShownUsageLimitsDto[] | null;

  @ApiProperty({ type: ApiKeyDefaultsDto })
  readonly defaults: Required<ApiKeyDefaultsDto>;

  @ApiProperty({ type: [String], format: 'email', example: [] })
  readonly alert_emails: readonly string[];

  @ApiMomentOrNull()
  readonly expires_at: string | null;

  /** When the secret before the last rotation expires; null when there is none. */
  @ApiMomentOrNull()
  readonly key_transition_expires_at: string | null;

  /**
   * When the last request with this key arrived, to the millisecond; requests are counted a few seconds after they end. Null when there was
   * none within 30 days. Only in responses to requests with `include_last_used_at=true`.
   */
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-01-31T12:00:00.000Z',
  })
  readonly last_used_at?: string | null;

  @ApiProperty({ enum: ['ui', 'api', 'auto'] })
  readonly creation_mode: ApiKey['creationMode'];

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  @ApiProperty({ enum: ['api-key'] })
  readonly object = 'api-key';

  static from(key: ApiKey, usage: BudgetUsage = NO_USAGE, lastUse?: LastUse): ApiKeyDto {
    const now = Date.now();
    return Object.assign(new ApiKeyDto(), {
      id: key.id,
      key: `${key.prefix}***${key.lastFour}`,
      name: key.name,
      description: key.description,
      type: key.kind,
      organisation_id: key.organizationId,
      workspace_id: key.workspaceId,
      user_id: key.userId,
      status: statusOf(key, usage, now),
      scopes: key.scopes,
      rate_limits: shownRates(key.rateLimits),
      usage_limits: shownBudgetOrList(key.usageLimits, usage),
      defaults: {
        metadata: key.defaultMetadata,
        config_id: key.defaultConfigId,
        allow_config_override: key.allowConfigOverride,
      },
      alert_emails: key.alertEmails ?? [],
      expires_at: key.expiresAt?.toISOString() ?? null,
      key_transition_expires_at: isPast(key.previousKeyExpiresAt, now)
        ? null
        : (key.previousKeyExpiresAt?.toISOString() ?? null),
      ...(lastUse && { last_used_at: lastUse.get(key.id) ?? null }),
      creation_mode: key.creationMode,
      created_at: key.createdAt.toISOString(),
      last_updated_at: key.updatedAt.toISOString(),
    });
  }
}

function statusOf(key: ApiKey, usage: BudgetUsage, now: number): ApiKeyDto['status'] {
  if (isPast(key.expiresAt, now)) return 'expired';
  return isExhausted(key, usage) ? 'exhausted' : 'active';
}

function isPast(moment: Date | null, now: number): boolean {
  return moment !== null && moment.getTime() <= now;
}

interface ListedKeys {
  readonly keys: readonly ApiKey[];
  readonly total: number;
  readonly usage: BudgetUsage;
  readonly lastUse: LastUse | undefined;
}

export class ApiKeyListDto extends ListOf(ApiKeyDto) {
  static from({ keys, total, usage, lastUse }: ListedKeys): ApiKeyListDto {
    const data = keys.map((key) => ApiKeyDto.from(key, usage, lastUse));
    return Object.assign(new ApiKeyListDto(), { total, data });
  }
}
