import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsObject, IsString, Length } from 'class-validator';
import {
  type ClientDisconnectRule,
  UNSUPPORTED_PARAMETER_RULES,
  type UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import { AzureFields } from './azure-fields.dto.js';
import { IfGiven, IsIdOrSlug, OrNull } from '../../common/http/validators.js';
import {
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeNote,
  MayTakeExpiry,
  MayTakeWorkspace,
  TakesProvider,
  MayTakeProvider,
  MayResetUsage,
  MayTakeDisconnectRule,
  MayTakeSecret,
} from '../dto-fields/fields.js';
import { MayTakeSecretMappings, type SecretMappingDto } from '../dto-fields/secret-mapping.dto.js';
import { PRICING_CONFIG_SCHEMA } from '../dto-fields/model-pricing.js';
import {
  type RateLimitDto,
  RateLimits,
  TakesLimits,
  UsageLimits,
  type UsageLimitsDto,
} from '../dto-fields/limit.dto.js';
import { Audited } from '../dto-fields/audited.js';

const LONGEST_HOST = 2048;

/** Fields of a virtual key that can be set on creation and changed later. */
@TakesLimits()
class VirtualKeyFields extends AzureFields {
  @MayTakeSecret()
  readonly key?: string;

  @MayTakeNote()
  readonly note?: string | null;

  @Audited()
  @ApiPropertyOptional({
    description:
      "Base URL to call in place of the provider's own, for private deployments. Null: the provider's own. Default: null.",
    type: String,
    nullable: true,
    minLength: 1,
    example: 'https://llm.example.com/v1',
  })
  @OrNull()
  @IsString()
  @Length(0, LONGEST_HOST)
  readonly custom_host?: string | null;

  @ApiPropertyOptional({
    description:
      'Further settings of the provider account, by the names in the provider catalogue, such as a region or a project. They are not secret. Default: none.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'openai-project': 'proj_4711' },
  })
  @IfGiven()
  @IsObject()
  readonly fields?: Readonly<Record<string, unknown>>;

  @MayTakeExpiry()
  readonly expires_at?: string | null;

  @ApiPropertyOptional({
    description:
      'Prices by model under this virtual key, in place of the list prices. Null: list prices. Default: null.',
    type: 'object',
    nullable: true,
    additionalProperties: PRICING_CONFIG_SCHEMA,
  })
  @OrNull()
  @IsObject()
  readonly model_pricing?: Readonly<Record<string, unknown>> | null;

  @MayTakeDisconnectRule()
  readonly on_client_disconnect?: ClientDisconnectRule | null;

  @ApiPropertyOptional({
    description:
      'What happens to a parameter that the provider does not have: `refuse` returns 400, `drop` sends the request without it. A header or a config takes precedence.',
    type: String,
    enum: [...UNSUPPORTED_PARAMETER_RULES, null],
    nullable: true,
    example: 'drop',
  })
  @OrNull()
  @IsIn(UNSUPPORTED_PARAMETER_RULES)
  readonly unsupported_parameters?: UnsupportedParameterRule | null;

  /** Fields that take their values from secret references. A change replaces all of them; null removes them. */
  @MayTakeSecretMappings()
  readonly secret_mappings?: readonly SecretMappingDto[] | null;

  @UsageLimits()
  readonly usage_limits?: UsageLimitsDto[] | null;

  @RateLimits()
  readonly rate_limits?: RateLimitDto[] | null;
}

export class CreateVirtualKeyDto extends VirtualKeyFields {
  @Audited()
  @TakesName('OpenAI production', 'Name of the virtual key.')
  readonly name: string;

  @Audited()
  @MayTakeSlug('openai-production')
  readonly slug?: string;

  @TakesProvider()
  readonly provider: string;

  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

/** Changing the provider or host requires the secret again, so that it cannot be sent to a destination it was not entered for. */
export class UpdateVirtualKeyDto extends VirtualKeyFields {
  @Audited()
  @MayTakeName('OpenAI production', 'Name of the virtual key.')
  readonly name?: string;

  @MayTakeProvider()
  readonly provider?: string;

  @MayResetUsage()
  readonly reset_usage?: boolean;
}

/** A second virtual key with the same credential. */
export class DuplicateVirtualKeyDto {
  @Audited()
  @MayTakeName('OpenAI production', 'Name of the new virtual key. Default: the name of the original.')
  readonly name?: string;

  @Audited()
  @MayTakeSlug('openai-production-2')
  readonly slug?: string;
}

export class CopyVirtualKeyDto extends DuplicateVirtualKeyDto {
  @Audited()
  @ApiProperty({ description: 'Id or slug of the workspace for the copy.', example: 'ws-research' })
  @IsIdOrSlug()
  readonly workspace_id: string;
}
