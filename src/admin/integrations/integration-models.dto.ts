import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, IsObject, IsString, Length } from 'class-validator';
import { HasNoEffectYet, IfGiven, OrNull, ValidateEach } from '../../common/http/validators.js';
import { PRICING_CONFIG_SCHEMA, type PricingConfig } from '../dto-fields/model-pricing.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryField } from '../http/query-fields.js';

const LONGEST_MODEL = 256;
/** Maximum number of models with their own settings in an integration. */
export const MOST_MODELS = 500;

export class RemoveModelsQuery extends QueryDto {
  @QueryField(
    {
      type: String,
      required: true,
      description: 'Ids of the models whose settings to remove. Commas separate them.',
    },
    'must name models, with commas between them',
    (text) => {
      const names = text.split(',').map((name) => name.trim());
      return names.includes('') ? undefined : names;
    },
  )
  readonly slugs: readonly string[];
}

export class ModelDto {
  @ApiProperty({ example: 'gpt-4o' })
  @IsString()
  @Length(1, LONGEST_MODEL)
  readonly slug: string;

  @ApiProperty()
  @IsBoolean()
  readonly enabled: boolean;

  /** The provider's catalogue does not have it. */
  @ApiPropertyOptional({ type: Boolean, nullable: true })
  @OrNull()
  @IsBoolean()
  readonly is_custom?: boolean | null;

  @ApiPropertyOptional({ type: Boolean, nullable: true })
  @OrNull()
  @IsBoolean()
  readonly is_finetune?: boolean | null;

  @ApiPropertyOptional({ type: String, nullable: true })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_MODEL)
  readonly base_model_slug?: string | null;

  /** Instead of the list price. If omitted, the model keeps its current price; null restores the list price. */
  @ApiPropertyOptional({ ...PRICING_CONFIG_SCHEMA, nullable: true })
  @OrNull()
  @IsObject()
  readonly pricing_config?: Readonly<Record<string, unknown>> | null;

  @HasNoEffectYet('a model has the host of its integration; create another integration for another host')
  readonly configurations?: unknown;
}

export class UpdateModelsDto {
  @ApiPropertyOptional({ type: [ModelDto], maxItems: MOST_MODELS })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_MODELS)
  @ValidateEach()
  @Type(() => ModelDto)
  readonly models?: readonly ModelDto[];

  /** Whether models that are not listed may be used. */
  @ApiPropertyOptional()
  @IfGiven()
  @IsBoolean()
  readonly allow_all_models?: boolean;
}

class ShownModelDto {
  @ApiProperty({ example: 'gpt-4o' })
  readonly slug: string;

  @ApiProperty({ example: 'gpt-4o' })
  readonly name: string;

  @ApiProperty()
  readonly enabled: boolean;

  @ApiProperty()
  readonly is_custom: boolean;

  @ApiProperty()
  readonly is_finetune: boolean;

  @ApiProperty({ type: String, nullable: true })
  readonly base_model_slug: string | null;

  @ApiPropertyOptional(PRICING_CONFIG_SCHEMA)
  readonly pricing_config?: PricingConfig;
}

export class IntegrationModelsDto {
  @ApiProperty({ example: 1 })
  readonly total: number;

  @ApiProperty({ type: [ShownModelDto] })
  readonly models: readonly ShownModelDto[];

  static from(models: readonly ShownModelDto[]): IntegrationModelsDto {
    return Object.assign(new IntegrationModelsDto(), { total: models.length, models });
  }
}
