import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import type { ApiKey } from './api-key.entity.js';
import {
  AN_ID,
  ApiId,
  ApiIdOrNull,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  ApiMomentOrNull,
  ApiTextOrNull,
} from '../dto-fields/fields.js';
import {
  type ShownRateLimitDto,
  ShownRateLimits,
  ShownUsageLimits,
  ShowsLimits,
  type ShownUsageLimitsDto,
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

export class RevokedApiKeysDto {
  @ApiObject('list')
  readonly object: 'list';

  @ApiProperty({ description: 'Ids of the revoked keys.', type: [String], example: [AN_ID] })
  readonly revoked: readonly string[];

  static of(revoked: readonly string[]): RevokedApiKeysDto {
    return { object: 'list', revoked };
  }
}

/** An API key as the API shows it, without its secret. */
@ShowsLimits()
export class ApiKeyDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: 'The key with all but its prefix and its last four characters masked.',
    example: 'gw_ws_***x7Qf',
  })
  readonly key: string;

  @ApiProperty({ description: 'Display name. It need not be unique.', example: 'checkout-service' })
  readonly name: string;

  @ApiTextOrNull('Free text: what the resource is for. Null if there is none.')
  readonly description: string | null;

  @ApiProperty({
    description:
      'Kind of the key: for the administration, for a service of a workspace, or for a user of a workspace.',
    enum: ['organisation-service', 'workspace-service', 'workspace-user'],
  })
  readonly type: ApiKeyType;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiIdOrNull('Id of the workspace. Null if the resource belongs to the whole organization.')
  readonly workspace_id: string | null;

  @ApiIdOrNull('Id of the user. Null if there is none.', null)
  readonly user_id: string | null;

  @ApiProperty({
    description:
      '`exhausted` keys have no budget left; `expired` keys are past `expires_at`. Both are refused.',
    enum: ['active', 'exhausted', 'expired'],
  })
  readonly status: 'active' | 'exhausted' | 'expired';

  @ApiProperty({
    description: 'Permissions, such as `logs.list`. Every operation names the scope that it requires.',
    type: [String],
    example: ['logs.list', 'logs.view'],
  })
  readonly scopes: string[];

  @ShownRateLimits()
  readonly rate_limits: readonly ShownRateLimitDto[] | null;

  @ShownUsageLimits()
  readonly usage_limits: ShownUsageLimitsDto | readonly ShownUsageLimitsDto[] | null;

  @ApiProperty({ description: 'Settings for requests with this key.', type: ApiKeyDefaultsDto })
  readonly defaults: Required<ApiKeyDefaultsDto>;

  @ApiProperty({
    description:
      'Addresses that receive alerts about the budgets of this key, beside owners, admins and the owner of the key. Default: none.',
    type: [String],
    format: 'email',
    example: [],
  })
  readonly alert_emails: readonly string[];

  @ApiMomentOrNull('Time at which the resource stops working, ISO 8601 in UTC. Null if it does not expire.')
  readonly expires_at: string | null;

  @ApiMomentOrNull('Time at which the previous secret stops working. Null if none does.')
  readonly key_transition_expires_at: string | null;

  @ApiPropertyOptional({
    description:
      'Time of the last request with the key. Null if there was none within 30 days. Only with `include_last_used_at=true`.',
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-01-31T12:00:00.000Z',
  })
  readonly last_used_at?: string | null;

  @ApiProperty({
    description: 'How the key was created: in the dashboard, by the API, or by the gateway itself.',
    enum: ['ui', 'api', 'auto'],
  })
  readonly creation_mode: ApiKey['creationMode'];

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiObject('api-key')
  readonly object: 'api-key';

  static from(key: ApiKey, usage: BudgetUsage = NO_USAGE, lastUse?: LastUse): ApiKeyDto {
    const now = Date.now();
    return {
      object: 'api-key',
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
    };
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

export class ApiKeyListDto extends ListOf(
  ApiKeyDto,
  'Number of matching keys on all pages, at most 100,000.',
) {
  static from({ keys, total, usage, lastUse }: ListedKeys): ApiKeyListDto {
    const data = keys.map((key) => ApiKeyDto.from(key, usage, lastUse));
    return { object: 'list', total, data };
  }
}
