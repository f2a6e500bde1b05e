import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { WorkspaceProvider } from '../../common/database/entities/workspace-provider.entity.js';
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

const NO_LIMITS = 'limits of providers are not enforced yet, so none can be set';

class ProviderFields {
  @ApiPropertyOptional({ type: String, nullable: true, example: 'Billed to the research team' })
  @OrNull()
  @IsNote()
  readonly note?: string | null;

  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: '2030-01-31T12:00:00Z' })
  @OrNull()
  @IsFutureDateTime()
  readonly expires_at?: string | null;

  @HasNoEffectYet(NO_LIMITS)
  readonly usage_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly rate_limits?: unknown;
}

export class CreateProviderDto extends ProviderFields {
  @ApiProperty({ example: 'OpenAI', maxLength: 120 })
  @IsName()
  readonly name: string;

  /** Id or slug of an integration that the workspace may use. */
  @ApiProperty({ example: 'openai-company' })
  @IsIdOrSlug()
  readonly integration_id: string;

  /** Made from the name if it is left out. Unique in the organization, among virtual keys too. */
  @ApiPropertyOptional({ example: 'openai' })
  @IfGiven()
  @IsSlug()
  readonly slug?: string;

  /** Id or slug. A workspace key may leave it out: it has only one. */
  @ApiPropertyOptional({ example: 'ws-default' })
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

export class UpdateProviderDto extends ProviderFields {
  @ApiPropertyOptional({ example: 'OpenAI', maxLength: 120 })
  @IfGiven()
  @IsName()
  readonly name?: string;

  @HasNoEffectYet(NO_LIMITS)
  readonly reset_usage?: unknown;

  /** The compatible SDK sends here what others send as `?workspace_id=`. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

export class ProviderNameDto {
  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly id: string;

  @ApiProperty({ example: 'openai' })
  readonly slug: string;

  static from({ id, slug }: WorkspaceProvider): ProviderNameDto {
    return Object.assign(new ProviderNameDto(), { id, slug });
  }
}

export class ProviderDto extends ProviderNameDto {
  @ApiProperty({ example: 'OpenAI' })
  readonly name: string;

  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly integration_id: string;

  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly organisation_id: string;

  @ApiProperty({ format: 'uuid', example: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10' })
  readonly workspace_id: string;

  @ApiProperty({ type: String, nullable: true, example: null })
  readonly note: string | null;

  @ApiProperty({ enum: ['active', 'expired'] })
  readonly status: 'active' | 'expired';

  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: null })
  readonly expires_at: string | null;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly created_at: string;

  @ApiProperty({ format: 'date-time', example: '2026-01-31T12:00:00.000Z' })
  readonly last_updated_at: string;

  @ApiProperty({ enum: ['provider'] })
  readonly object = 'provider';

  static override from(row: WorkspaceProvider): ProviderDto {
    const expired = row.expiresAt !== null && row.expiresAt.getTime() <= Date.now();
    return Object.assign(new ProviderDto(), {
      id: row.id,
      slug: row.slug,
      name: row.name,
      integration_id: row.integrationId,
      organisation_id: row.organizationId,
      workspace_id: row.workspaceId,
      note: row.note,
      status: expired ? 'expired' : 'active',
      expires_at: row.expiresAt?.toISOString() ?? null,
      created_at: row.createdAt.toISOString(),
      last_updated_at: row.updatedAt.toISOString(),
    });
  }
}

export class ProviderListDto implements Listed<ProviderDto> {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ example: 1 })
  readonly total: number;

  @ApiProperty({ type: [ProviderDto] })
  readonly data: readonly ProviderDto[];

  static from(rows: readonly WorkspaceProvider[], total: number): ProviderListDto {
    return Object.assign(new ProviderListDto(), { total, data: rows.map((row) => ProviderDto.from(row)) });
  }
}
