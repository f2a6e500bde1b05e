import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, IsIn, IsObject, IsString, Length } from 'class-validator';
import {
  CLIENT_DISCONNECT_RULES,
  type ClientDisconnectRule,
  UNSUPPORTED_PARAMETER_RULES,
  type UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import type { Price } from '../../common/contracts/price.js';
import type { VirtualKey } from './virtual-key.entity.js';
import { HasNoEffectYet, IfGiven, IsIdOrSlug, OrNull, ValidateEach } from '../../common/http/validators.js';
import {
  ApiId,
  ApiMoment,
  ApiMomentOrNull,
  ApiTextOrNull,
  MayTakeProvider,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeWorkspace,
  MayTakeNote,
  MayTakeExpiry,
  TakesProvider,
  MayTakeSecret,
  MayTakeDisconnectRule,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { PRICING_CONFIG_SCHEMA, type PricingConfig, pricingConfigOf } from '../dto-fields/model-pricing.js';
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

const LONGEST_HOST = 2048;

const LONGEST_FIELD = 128;
const NO_REFERENCES =
  'secrets in external stores are not supported yet; send the secret itself in the field "key"';

/** A deployment of Azure OpenAI. All models go to the virtual key's deployment. */
class DeploymentDto {
  @ApiProperty({ example: '2024-10-21' })
  @IsString()
  @Length(1, LONGEST_FIELD)
  readonly apiVersion: string;

  @ApiProperty({ example: 'gpt-4o-prod' })
  @IsString()
  @Length(1, LONGEST_FIELD)
  readonly deploymentName: string;

  @ApiPropertyOptional({ example: 'gpt-4o' })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_FIELD)
  readonly alias?: string;

  @ApiPropertyOptional()
  @IfGiven()
  @IsBoolean()
  readonly is_default?: boolean;
}

/** An Azure field under its name in the compatible API. */
const IsCompatibleField = (): PropertyDecorator =>
  applyDecorators(ApiHideProperty(), OrNull(), IsString(), Length(1, LONGEST_FIELD));

const IsDeployments = (): PropertyDecorator =>
  applyDecorators(
    ApiHideProperty(),
    IfGiven(),
    IsArray(),
    ArrayMaxSize(1, { message: 'a virtual key has one deployment; create a virtual key for each' }),
    ValidateEach(),
    Type(() => DeploymentDto),
  );

/** Fields of a virtual key that can be set on creation and changed later. */
@TakesLimits()
class VirtualKeyFields {
  /** The provider's secret. It is sealed when saved and never shown again. */
  @MayTakeSecret()
  readonly key?: string;

  @MayTakeNote()
  readonly note?: string | null;

  /** Base URL to use instead of the provider's own. Null restores the provider's own. */
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    minLength: 1,
    example: 'https://llm.example.com/v1',
  })
  @OrNull()
  @IsString()
  @Length(0, LONGEST_HOST)
  readonly custom_host?: string | null;

  /** Account settings besides the key. Not secret. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'openai-project': 'proj_4711' },
  })
  @IfGiven()
  @IsObject()
  readonly fields?: Readonly<Record<string, unknown>>;

  @MayTakeExpiry()
  readonly expires_at?: string | null;

  @IsCompatibleField()
  readonly apiVersion?: string | null;

  @IsCompatibleField()
  readonly api_version?: string | null;

  @IsCompatibleField()
  readonly resourceName?: string | null;

  @IsCompatibleField()
  readonly resource_name?: string | null;

  @IsCompatibleField()
  readonly deploymentName?: string | null;

  @IsCompatibleField()
  readonly deployment_name?: string | null;

  @IsDeployments()
  readonly deploymentConfig?: readonly DeploymentDto[];

  @IsDeployments()
  readonly deployment_config?: readonly DeploymentDto[];

  /** Prices of models under this key instead of list prices, by name. Null restores the list prices. */
  @ApiPropertyOptional({ type: 'object', nullable: true, additionalProperties: PRICING_CONFIG_SCHEMA })
  @OrNull()
  @IsObject()
  readonly model_pricing?: Readonly<Record<string, unknown>> | null;

  /**
   * What happens to a request whose client disconnects: `cancel` ends it and charges what arrived, as an estimate; `finish` reads the
   * response to its end and charges what the provider reports. Null: the workspace's default applies.
   */
  @MayTakeDisconnectRule()
  readonly on_client_disconnect?: ClientDisconnectRule | null;

  /**
   * What happens to a request with a parameter that the provider does not support, such as `seed` with Anthropic: `refuse` returns 400,
   * `drop` sends it without the parameter. Null: `refuse`. The request's header and its config take precedence.
   */
  @ApiPropertyOptional({
    type: String,
    enum: [...UNSUPPORTED_PARAMETER_RULES, null],
    nullable: true,
    example: 'drop',
  })
  @OrNull()
  @IsIn(UNSUPPORTED_PARAMETER_RULES)
  readonly unsupported_parameters?: UnsupportedParameterRule | null;

  @HasNoEffectYet(NO_REFERENCES)
  readonly secret_mappings?: unknown;

  @UsageLimits()
  readonly usage_limits?: UsageLimitsDto[] | null;

  @RateLimits()
  readonly rate_limits?: RateLimitDto[] | null;
}

export class CreateVirtualKeyDto extends VirtualKeyFields {
  @TakesName('OpenAI production')
  readonly name: string;

  /** Default: made from the name. Unique in the organization. */
  @MayTakeSlug('openai-production')
  readonly slug?: string;

  @TakesProvider()
  readonly provider: string;

  /** Id or slug. A workspace key may omit it: it has only one. */
  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

/** Changing the provider or host requires the secret again, so that it cannot be sent to a destination it was not entered for. */
export class UpdateVirtualKeyDto extends VirtualKeyFields {
  @MayTakeName('OpenAI production')
  readonly name?: string;

  @MayTakeProvider()
  readonly provider?: string;

  /** True resets the use of budgets and rates. Concurrency counts running requests and is not reset. */
  @ApiPropertyOptional({ example: true })
  @IfGiven()
  @IsBoolean()
  readonly reset_usage?: boolean;
}

/** A second virtual key with the same credential. */
export class DuplicateVirtualKeyDto {
  /** Default: that of the original. */
  @MayTakeName('OpenAI production')
  readonly name?: string;

  /** Default: made from the name. Unique in the organization. */
  @MayTakeSlug('openai-production-2')
  readonly slug?: string;
}

export class CopyVirtualKeyDto extends DuplicateVirtualKeyDto {
  /** Id or slug of its workspace. */
  @ApiProperty({ example: 'ws-research' })
  @IsIdOrSlug()
  readonly workspace_id: string;
}

class CreatedSlugDto {
  @ApiProperty({ example: 'openai-production' })
  readonly slug: string;
}

export class CreatedVirtualKeyDto {
  @ApiProperty({ type: Boolean, enum: [true], example: true })
  readonly success = true;

  @ApiProperty({ type: CreatedSlugDto })
  readonly data: CreatedSlugDto;

  static from({ slug }: VirtualKey): CreatedVirtualKeyDto {
    return Object.assign(new CreatedVirtualKeyDto(), { data: { slug } });
  }
}

/** A virtual key as the API shows it, without its credentials. */
@ShowsLimits()
export class VirtualKeyDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'openai-production' })
  readonly slug: string;

  @ApiProperty({ example: 'OpenAI production' })
  readonly name: string;

  @ApiTextOrNull()
  readonly note: string | null;

  @ApiProperty({ enum: ['active', 'exhausted', 'expired'] })
  readonly status: 'active' | 'exhausted' | 'expired';

  @ShownRateLimits()
  readonly rate_limits: readonly ShownRateLimitDto[] | null;

  /** A list when there are several. */
  @ShownUsageLimits()
  readonly usage_limits: ShownUsageLimitsDto | readonly ShownUsageLimitsDto[] | null;

  @ApiProperty({ example: 'openai' })
  readonly provider: string;

  @ApiTextOrNull()
  readonly custom_host: string | null;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: {} })
  readonly fields: Readonly<Record<string, string>>;

  @ApiProperty({ type: 'object', nullable: true, additionalProperties: PRICING_CONFIG_SCHEMA, example: null })
  readonly model_pricing: Readonly<Record<string, PricingConfig>> | null;

  /** What happens to a request whose client disconnects; null for the workspace's default. */
  @ApiProperty({ type: String, enum: [...CLIENT_DISCONNECT_RULES, null], nullable: true, example: null })
  readonly on_client_disconnect: ClientDisconnectRule | null;

  /** What happens to parameters that the provider does not support; null: they are refused. */
  @ApiProperty({
    type: String,
    enum: [...UNSUPPORTED_PARAMETER_RULES, null],
    nullable: true,
    example: null,
  })
  readonly unsupported_parameters: UnsupportedParameterRule | null;

  @ApiId()
  readonly organisation_id: string;

  @ApiId()
  readonly workspace_id: string;

  @ApiMomentOrNull()
  readonly expires_at: string | null;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  @ApiProperty({ enum: ['virtual-key'] })
  readonly object = 'virtual-key';

  static from(key: VirtualKey, usage: BudgetUsage = NO_USAGE): VirtualKeyDto {
    const expired = key.expiresAt !== null && key.expiresAt.getTime() <= Date.now();
    return Object.assign(new VirtualKeyDto(), {
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
      model_pricing: key.prices && shownPrices(key.prices),
      on_client_disconnect: key.onClientDisconnect,
      unsupported_parameters: key.unsupportedParameters,
      organisation_id: key.organizationId,
      workspace_id: key.workspaceId,
      expires_at: key.expiresAt?.toISOString() ?? null,
      created_at: key.createdAt.toISOString(),
      last_updated_at: key.updatedAt.toISOString(),
    });
  }
}

function shownPrices(prices: Readonly<Record<string, Price>>): Record<string, PricingConfig> {
  return Object.fromEntries(Object.entries(prices).map(([model, price]) => [model, pricingConfigOf(price)]));
}

export class VirtualKeyListDto extends ListOf(VirtualKeyDto) {
  static from(keys: readonly VirtualKey[], total: number, usage: BudgetUsage): VirtualKeyListDto {
    return Object.assign(new VirtualKeyListDto(), {
      total,
      data: keys.map((key) => VirtualKeyDto.from(key, usage)),
    });
  }
}
