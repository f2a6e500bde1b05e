import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject, IsString, Length, Matches } from 'class-validator';
import type { VirtualKey } from '../../common/database/entities/virtual-key.entity.js';
import type { Listed } from '../../common/database/page.js';
import {
  HasNoEffectYet,
  IfGiven,
  IsFutureDateTime,
  IsIdOrSlug,
  IsName,
  IsNote,
  IsSlug,
  OrNull,
} from '../../common/http/validators.js';

const NO_LIMITS = 'limits of virtual keys are not enforced yet, so none can be set';
const LONGEST_KEY = 8192;
const LONGEST_PROVIDER = 64;
const LONGEST_HOST = 2048;

/** Fields that a virtual key has from its making and that can be changed later. */
class VirtualKeyFields {
  /** The provider's own secret. It is sealed at once and never shown again. */
  @ApiPropertyOptional({ writeOnly: true, maxLength: LONGEST_KEY, example: 'sk-proj-…' })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_KEY)
  @Matches(/^[!-~](?:[ -~]*[!-~])?$/, { message: 'it must be printable ASCII without spaces around it' })
  readonly key?: string;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'Billed to the research team' })
  @OrNull()
  @IsNote()
  readonly note?: string | null;

  /** Base URL to call instead of the provider's own. Null goes back to the provider's own. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://llm.example.com/v1' })
  @OrNull()
  @IsString()
  @Length(0, LONGEST_HOST)
  readonly custom_host?: string | null;

  /** What the provider knows the account by, besides the key. Not secret. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { 'openai-project': 'proj_4711' },
  })
  @IfGiven()
  @IsObject()
  readonly fields?: Readonly<Record<string, unknown>>;

  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: '2030-01-31T12:00:00Z' })
  @OrNull()
  @IsFutureDateTime()
  readonly expires_at?: string | null;

  @HasNoEffectYet(NO_LIMITS)
  readonly usage_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly rate_limits?: unknown;
}

export class CreateVirtualKeyDto extends VirtualKeyFields {
  @ApiProperty({ example: 'OpenAI production', maxLength: 120 })
  @IsName()
  readonly name: string;

  /** Made from the name if it is left out. Unique in the organization. */
  @ApiPropertyOptional({ example: 'openai-production' })
  @IfGiven()
  @IsSlug()
  readonly slug?: string;

  @ApiProperty({ example: 'openai' })
  @IsString()
  @Length(1, LONGEST_PROVIDER)
  readonly provider: string;

  /** Id or slug. A workspace key may leave it out: it has only one. */
  @ApiPropertyOptional({ example: 'ws-default' })
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

/** Another provider or host needs the secret again, so that it cannot be sent to a place it was not entered for. */
export class UpdateVirtualKeyDto extends VirtualKeyFields {
  @ApiPropertyOptional({ example: 'OpenAI production', maxLength: 120 })
  @IfGiven()
  @IsName()
  readonly name?: string;

  @ApiPropertyOptional({ example: 'openai' })
  @IfGiven()
  @IsString()
  @Length(1, LONGEST_PROVIDER)
  readonly provider?: string;
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

/** A virtual key as the API shows it. The credentials never come out again. */
export class VirtualKeyDto {
  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly id: string;

  @ApiProperty({ example: 'openai-production' })
  readonly slug: string;

  @ApiProperty({ example: 'OpenAI production' })
  readonly name: string;

  @ApiProperty({ type: String, nullable: true, example: null })
  readonly note: string | null;

  @ApiProperty({ enum: ['active', 'expired'] })
  readonly status: 'active' | 'expired';

  @ApiProperty({ example: 'openai' })
  readonly provider: string;

  @ApiProperty({ type: String, nullable: true, example: null })
  readonly custom_host: string | null;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: {} })
  readonly fields: Readonly<Record<string, string>>;

  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly organisation_id: string;

  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly workspace_id: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  readonly expires_at: string | null;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly created_at: string;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly last_updated_at: string;

  @ApiProperty({ enum: ['virtual-key'] })
  readonly object = 'virtual-key';

  static from(key: VirtualKey): VirtualKeyDto {
    const expired = key.expiresAt !== null && key.expiresAt.getTime() <= Date.now();
    return Object.assign(new VirtualKeyDto(), {
      id: key.id,
      slug: key.slug,
      name: key.name,
      note: key.note,
      status: expired ? 'expired' : 'active',
      provider: key.providerId,
      custom_host: key.customHost,
      fields: key.fields,
      organisation_id: key.organizationId,
      workspace_id: key.workspaceId,
      expires_at: key.expiresAt?.toISOString() ?? null,
      created_at: key.createdAt.toISOString(),
      last_updated_at: key.updatedAt.toISOString(),
    });
  }
}

export class VirtualKeyListDto implements Listed<VirtualKeyDto> {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ example: 1 })
  readonly total: number;

  @ApiProperty({ type: [VirtualKeyDto] })
  readonly data: readonly VirtualKeyDto[];

  static from(keys: readonly VirtualKey[], total: number): VirtualKeyListDto {
    return Object.assign(new VirtualKeyListDto(), {
      total,
      data: keys.map((key) => VirtualKeyDto.from(key)),
    });
  }
}
