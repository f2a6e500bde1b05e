import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsBoolean, IsObject, IsString, Length } from 'class-validator';
import { HasNoEffectYet, IfGiven, OrNull, NestedList } from '../../common/http/validators.js';
import { PRICING_CONFIG_SCHEMA, type PricingConfig } from '../dto-fields/model-pricing.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryField } from '../http/query-fields.js';
import { Audited } from '../dto-fields/audited.js';

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
  @Audited()
  @ApiProperty({ description: 'Id of the model.', example: 'gpt-4o' })
  @IsString()
  @Length(1, LONGEST_MODEL)
  readonly slug: string;

  @ApiProperty({ description: 'Whether the model may be used.' })
  @IsBoolean()
  readonly enabled: boolean;

  @ApiPropertyOptional({
    description: "Whether the model is missing from the provider's catalogue and was added by hand.",
    type: Boolean,
    nullable: true,
  })
  @OrNull()
  @IsBoolean()
  readonly is_custom?: boolean | null;

  @ApiPropertyOptional({
    description: 'Whether the model is a fine-tuned one.',
    type: Boolean,
    nullable: true,
  })
  @OrNull()
  @IsBoolean()
  readonly is_finetune?: boolean | null;

  @ApiPropertyOptional({
    description: 'Id of the model on which a fine-tuned or custom model is based. Null if there is none.',
    type: String,
    nullable: true,
  })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_MODEL)
  readonly base_model_slug?: string | null;

  @ApiPropertyOptional({
    description: 'Price in place of the list price. Null: the list price. Left out of a change, it stays.',
    ...PRICING_CONFIG_SCHEMA,
    nullable: true,
  })
  @OrNull()
  @IsObject()
  readonly pricing_config?: Readonly<Record<string, unknown>> | null;

  @HasNoEffectYet('a model has the host of its integration; create another integration for another host')
  readonly configurations?: unknown;
}

export class UpdateModelsDto {
  @ApiPropertyOptional({
    description: 'Settings of single models, at most 500. Others keep theirs.',
    type: [ModelDto],
    maxItems: MOST_MODELS,
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MOST_MODELS)
  @NestedList(() => ModelDto)
  readonly models?: readonly ModelDto[];

  @ApiPropertyOptional({
    description: 'Whether models without a setting of their own may be used. Default: true.',
  })
  @IfGiven()
  @IsBoolean()
  readonly allow_all_models?: boolean;
}

class ShownModelDto {
  @ApiProperty({ description: 'Id of the model.', example: 'gpt-4o' })
  readonly slug: string;

  @ApiProperty({ description: 'Id of the model.', example: 'gpt-4o' })
  readonly name: string;

  @ApiProperty({ description: 'Whether the model may be used.' })
  readonly enabled: boolean;

  @ApiProperty({
    description: "Whether the model is missing from the provider's catalogue and was added by hand.",
  })
  readonly is_custom: boolean;

  @ApiProperty({ description: 'Whether the model is a fine-tuned one.' })
  readonly is_finetune: boolean;

  @ApiProperty({
    description: 'Id of the model on which a fine-tuned or custom model is based. Null if there is none.',
    type: String,
    nullable: true,
  })
  readonly base_model_slug: string | null;

  @ApiPropertyOptional({
    ...PRICING_CONFIG_SCHEMA,
    description: 'Price in place of the list price. Null: the list price. Left out of a change, it stays.',
  })
  readonly pricing_config?: PricingConfig;
}

export class IntegrationModelsDto {
  @ApiProperty({ description: 'Number of matching items on all pages.', example: 1 })
  readonly total: number;

  @ApiProperty({ description: 'Models of the integration with their settings.', type: [ShownModelDto] })
  readonly models: readonly ShownModelDto[];

  static from(models: readonly ShownModelDto[]): IntegrationModelsDto {
    return { total: models.length, models };
  }
}
