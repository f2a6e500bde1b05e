import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, Length, Matches } from 'class-validator';
import type { StoredSecretMapping } from '../../common/contracts/secret-mapping.js';
import { IsIdOrSlug, NestedList, OrNull } from '../../common/http/validators.js';
import { ApiId, ApiTextOrNull } from './fields.js';

const FORMATS = ['json', 'string'] as const;
const MOST_MAPPINGS = 16;
const LONGEST_KEY = 255;
const TARGET_FIELD = '^(?:key|(?:configurations|fields)\\.[\\w-]{1,64})$';
const A_MAPPING = { target_field: 'key', secret_reference_id: 'openai-key' };

const ITS_TARGET =
  'Field that takes its value from the secret: `key`, or `configurations.` and the name of an account field.';
const ITS_KEY =
  "Member of the secret's JSON object to use. Null: that of the secret reference. Default: null.";
const ITS_FORMAT =
  '`json` if the value is a JSON object, such as the file of a service account. Null: a text. Default: null.';
const MAPPINGS =
  'Fields that take their values from secret references. A change replaces all of them. Null: none. Default: null.';

/** A field of a credential, and the secret reference that it is taken from. */
export class SecretMappingDto {
  @ApiProperty({ description: ITS_TARGET, example: 'key', pattern: TARGET_FIELD })
  @Matches(new RegExp(TARGET_FIELD), {
    message: 'it must be "key", or "configurations." and the name of an account field',
  })
  @IsString()
  readonly target_field: string;

  @ApiProperty({ description: 'Id or slug of the secret reference.', example: 'openai-key' })
  @IsIdOrSlug()
  readonly secret_reference_id: string;

  @ApiPropertyOptional({
    description: ITS_KEY,
    type: String,
    nullable: true,
    maxLength: LONGEST_KEY,
    example: 'api_key',
  })
  @OrNull()
  @IsString()
  @Length(1, LONGEST_KEY)
  readonly secret_key?: string | null;

  @ApiPropertyOptional({
    description: ITS_FORMAT,
    type: String,
    enum: [...FORMATS, null],
    nullable: true,
    example: 'string',
  })
  @OrNull()
  @IsIn(FORMATS)
  readonly value_format?: (typeof FORMATS)[number] | null;
}

export const MayTakeSecretMappings = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      description: MAPPINGS,
      type: [SecretMappingDto],
      nullable: true,
      maxItems: MOST_MAPPINGS,
      example: [A_MAPPING],
    }),
    OrNull(),
    IsArray(),
    ArrayMaxSize(MOST_MAPPINGS),
    NestedList(() => SecretMappingDto),
  );

/** A stored mapping. */
export class ShownSecretMappingDto {
  @ApiProperty({ description: ITS_TARGET, example: 'key' })
  readonly target_field: string;

  @ApiId('Id of the secret reference.')
  readonly secret_reference_id: string;

  @ApiTextOrNull(ITS_KEY)
  readonly secret_key: string | null;

  @ApiProperty({
    description: ITS_FORMAT,
    type: String,
    enum: [...FORMATS, null],
    nullable: true,
    example: null,
  })
  readonly value_format: (typeof FORMATS)[number] | null;

  static from(mapping: StoredSecretMapping): ShownSecretMappingDto {
    return mapping;
  }
}

export const ShownSecretMappings = (): PropertyDecorator =>
  ApiProperty({ description: MAPPINGS, type: [ShownSecretMappingDto], nullable: true, example: null });
