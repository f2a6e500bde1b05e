import { ApiHideProperty, ApiProperty } from '@nestjs/swagger';
import type { WorkspaceProvider } from '../integrations/workspace-provider.entity.js';
import { HasNoEffectYet, IfGiven, IsIdOrSlug } from '../../common/http/validators.js';
import {
  ApiId,
  ApiMoment,
  ApiMomentOrNull,
  ApiTextOrNull,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeWorkspace,
  MayTakeNote,
  MayTakeExpiry,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';

const NO_LIMITS = 'limits of providers are not enforced yet, so none can be set';

class ProviderFields {
  @MayTakeNote()
  readonly note?: string | null;

  @MayTakeExpiry()
  readonly expires_at?: string | null;

  @HasNoEffectYet(NO_LIMITS)
  readonly usage_limits?: unknown;

  @HasNoEffectYet(NO_LIMITS)
  readonly rate_limits?: unknown;
}

export class CreateProviderDto extends ProviderFields {
  @TakesName('OpenAI')
  readonly name: string;

  /** Id or slug of an integration that the workspace can use. */
  @ApiProperty({ example: 'openai-company' })
  @IsIdOrSlug()
  readonly integration_id: string;

  /** Default: made from the name. Unique in the organization, shared with virtual keys. */
  @MayTakeSlug('openai')
  readonly slug?: string;

  /** Id or slug. A workspace key may omit it: it has only one. */
  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

export class UpdateProviderDto extends ProviderFields {
  @MayTakeName('OpenAI')
  readonly name?: string;

  @HasNoEffectYet(NO_LIMITS)
  readonly reset_usage?: unknown;

  /** The compatible SDK sends this instead of `?workspace_id=`. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

export class ProviderNameDto {
  @ApiId()
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

  @ApiId()
  readonly integration_id: string;

  @ApiId()
  readonly organisation_id: string;

  @ApiId()
  readonly workspace_id: string;

  @ApiTextOrNull()
  readonly note: string | null;

  @ApiProperty({ enum: ['active', 'expired'] })
  readonly status: 'active' | 'expired';

  @ApiMomentOrNull()
  readonly expires_at: string | null;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
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

export class ProviderListDto extends ListOf(ProviderDto) {
  static from(rows: readonly WorkspaceProvider[], total: number): ProviderListDto {
    return Object.assign(new ProviderListDto(), { total, data: rows.map((row) => ProviderDto.from(row)) });
  }
}
