import { ApiHideProperty, ApiProperty } from '@nestjs/swagger';
import type { WorkspaceProvider } from '../integrations/workspace-provider.entity.js';
import { HasNoEffectYet, IfGiven, IsIdOrSlug } from '../../common/http/validators.js';
import {
  ApiId,
  ApiMomentOrNull,
  ApiTextOrNull,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeNote,
  MayTakeExpiry,
  MayTakeWorkspace,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { Audited } from '../dto-fields/audited.js';

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
  @Audited()
  @TakesName('OpenAI', 'Name of the provider.')
  readonly name: string;

  @Audited()
  @ApiProperty({
    description: 'Id or slug of the integration whose credential the provider uses.',
    example: 'openai-company',
  })
  @IsIdOrSlug()
  readonly integration_id: string;

  @Audited()
  @MayTakeSlug('openai')
  readonly slug?: string;

  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

export class UpdateProviderDto extends ProviderFields {
  @Audited()
  @MayTakeName('OpenAI', 'Name of the provider.')
  readonly name?: string;

  @HasNoEffectYet(NO_LIMITS)
  readonly reset_usage?: unknown;

  /** The compatible SDK sends this instead of `?workspace_id=`. */
  @Audited()
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly workspace_id?: string;
}

export class ProviderNameDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Slug of the provider. It never changes.', example: 'openai' })
  readonly slug: string;

  static from({ id, slug }: WorkspaceProvider): ProviderNameDto {
    return { id, slug };
  }
}

export class ProviderDto extends ProviderNameDto {
  @ApiProperty({ description: 'Name of the provider.', example: 'OpenAI' })
  readonly name: string;

  @ApiId('Id or slug of the integration whose credential the provider uses.')
  readonly integration_id: string;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiId('Id of the workspace.')
  readonly workspace_id: string;

  @ApiTextOrNull('Free text. Null removes it. Default: none.')
  readonly note: string | null;

  @ApiProperty({ description: 'Current state of the resource.', enum: ['active', 'expired'] })
  readonly status: 'active' | 'expired';

  @ApiMomentOrNull('Time at which the resource stops working, ISO 8601 in UTC. Null if it does not expire.')
  readonly expires_at: string | null;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiObject('provider')
  readonly object: 'provider';

  static override from(row: WorkspaceProvider): ProviderDto {
    const expired = row.expiresAt !== null && row.expiresAt.getTime() <= Date.now();
    return {
      object: 'provider',
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
    };
  }
}

export class ProviderListDto extends ListOf(ProviderDto) {
  static from(rows: readonly WorkspaceProvider[], total: number): ProviderListDto {
    return { object: 'list', total, data: rows.map((row) => ProviderDto.from(row)) };
  }
}
