import { ApiProperty } from '@nestjs/swagger';
import {
  CLIENT_DISCONNECT_RULES,
  type ClientDisconnectRule,
  UNSUPPORTED_PARAMETER_RULES,
  type UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import type { Price } from '../../common/contracts/price.js';
import type { VirtualKey } from './virtual-key.entity.js';
import {
  ApiId,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  ApiMomentOrNull,
  ApiTextOrNull,
} from '../dto-fields/fields.js';
import { ShownSecretMappingDto, ShownSecretMappings } from '../dto-fields/secret-mapping.dto.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { PRICING_CONFIG_SCHEMA, type PricingConfig, pricingConfigOf } from '../dto-fields/model-pricing.js';
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

class CreatedSlugDto {
  @ApiProperty({ description: 'Slug of the new virtual key.', example: 'openai-production' })
  readonly slug: string;
}

export class CreatedVirtualKeyDto {
  @ApiProperty({
    description: 'Always true. A failure has an error status and an `error` object instead.',
    type: Boolean,
    enum: [true],
    example: true,
  })
  readonly success: true;

  @ApiProperty({ description: 'The new virtual key.', type: CreatedSlugDto })
  readonly data: CreatedSlugDto;

  static from({ slug }: VirtualKey): CreatedVirtualKeyDto {
    return { success: true, data: { slug } };
  }
}

/** A virtual key as the API shows it, without its credentials. */
@ShowsLimits()
export class VirtualKeyDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'openai-production',
  })
  readonly slug: string;

  @ApiProperty({ description: 'Name of the virtual key.', example: 'OpenAI production' })
  readonly name: string;

  @ApiTextOrNull('Free text. Null removes it. Default: none.')
  readonly note: string | null;

  @ApiProperty({
    description:
      '`exhausted` keys have no budget left; `expired` keys are past `expires_at`. Requests with them are refused.',
    enum: ['active', 'exhausted', 'expired'],
  })
  readonly status: 'active' | 'exhausted' | 'expired';

  @ShownRateLimits()
  readonly rate_limits: readonly ShownRateLimitDto[] | null;

  @ShownUsageLimits()
  readonly usage_limits: ShownUsageLimitsDto | readonly ShownUsageLimitsDto[] | null;

  @ApiProperty({
    description: 'Id of the provider in the provider catalogue, such as `openai`.',
    example: 'openai',
  })
  readonly provider: string;

  @ApiTextOrNull(
    "Base URL to call in place of the provider's own, for private deployments. Null: the provider's own. Default: null.",
  )
  readonly custom_host: string | null;

  @ApiProperty({
    description:
      'Further settings of the provider account, by the names in the provider catalogue, such as a region or a project. They are not secret. Default: none.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: {},
  })
  readonly fields: Readonly<Record<string, string>>;

  @ShownSecretMappings()
  readonly secret_mappings: readonly ShownSecretMappingDto[] | null;

  @ApiProperty({
    description:
      'Prices by model under this virtual key, in place of the list prices. Null: list prices. Default: null.',
    type: 'object',
    nullable: true,
    additionalProperties: PRICING_CONFIG_SCHEMA,
    example: null,
  })
  readonly model_pricing: Readonly<Record<string, PricingConfig>> | null;

  @ApiProperty({
    description:
      'What happens when the client disconnects before the end of the response: `cancel` ends the request and charges what arrived, as an estimate; `finish` reads the response to its end and charges what the provider reports. Null: the default of the workspace applies, else `cancel`.',
    type: String,
    enum: [...CLIENT_DISCONNECT_RULES, null],
    nullable: true,
    example: null,
  })
  readonly on_client_disconnect: ClientDisconnectRule | null;

  @ApiProperty({
    description:
      'What happens to a parameter that the provider does not have: `refuse` returns 400, `drop` sends the request without it. A header or a config takes precedence.',
    type: String,
    enum: [...UNSUPPORTED_PARAMETER_RULES, null],
    nullable: true,
    example: null,
  })
  readonly unsupported_parameters: UnsupportedParameterRule | null;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiId('Id of the workspace.')
  readonly workspace_id: string;

  @ApiMomentOrNull('Time at which the resource stops working, ISO 8601 in UTC. Null if it does not expire.')
  readonly expires_at: string | null;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiObject('virtual-key')
  readonly object: 'virtual-key';

  static from(key: VirtualKey, usage: BudgetUsage = NO_USAGE): VirtualKeyDto {
    const expired = key.expiresAt !== null && key.expiresAt.getTime() <= Date.now();
    return {
      object: 'virtual-key',
      id: key.id,
      slug: key.slug,
      name: key.name,
      note: key.note,
      status: expired ? 'expired' : isExhausted(key, usage) ? 'exhausted' : 'active',
      rate_limits: shownRates(key.rateLimits),
      usage_limits: shownBudgetOrList(key.usageLimits, usage),
      provider: key.providerId,
      custom_host: key.customHost,
      fields: key.fields,
      secret_mappings: key.secretMappings?.map((mapping) => ShownSecretMappingDto.from(mapping)) ?? null,
      model_pricing: key.prices && shownPrices(key.prices),
      on_client_disconnect: key.onClientDisconnect,
      unsupported_parameters: key.unsupportedParameters,
      organisation_id: key.organizationId,
      workspace_id: key.workspaceId,
      expires_at: key.expiresAt?.toISOString() ?? null,
      created_at: key.createdAt.toISOString(),
      last_updated_at: key.updatedAt.toISOString(),
    };
  }
}

function shownPrices(prices: Readonly<Record<string, Price>>): Record<string, PricingConfig> {
  return Object.fromEntries(Object.entries(prices).map(([model, price]) => [model, pricingConfigOf(price)]));
}

export class VirtualKeyListDto extends ListOf(VirtualKeyDto) {
  static from(keys: readonly VirtualKey[], total: number, usage: BudgetUsage): VirtualKeyListDto {
    return { object: 'list', total, data: keys.map((key) => VirtualKeyDto.from(key, usage)) };
  }
}
