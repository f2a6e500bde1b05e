import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsObject } from 'class-validator';
import type { Integration } from './integration.entity.js';
import { HasNoEffectYet, IfGiven } from '../../common/http/validators.js';
import {
  ApiId,
  ApiIdOrNull,
  ApiMoment,
  ApiTextOrNull,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeWorkspace,
  MayTakeNote,
  TakesProvider,
  MayTakeSecret,
} from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { configurationsOf } from './integration-configurations.js';
import { QueryChoice } from '../http/query-fields.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';

class IntegrationFields {
  /** The provider's secret. It is sealed when saved and never shown again. */
  @MayTakeSecret()
  readonly key?: string;

  @MayTakeNote()
  readonly description?: string | null;

  /**
   * The account settings besides the key: the fields of docs/providers.md with underscores, and `custom_host`. A change replaces all of
   * them.
   */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { openai_project: 'proj_4711' },
  })
  @IfGiven()
  @IsObject()
  readonly configurations?: Readonly<Record<string, unknown>>;

  @HasNoEffectYet(
    'secrets in external stores are not supported yet; send the secret itself in the field "key"',
  )
  readonly secret_mappings?: unknown;

  @HasNoEffectYet('adjustments of list prices are not applied; set the prices of the models themselves')
  readonly pricing_adjustments?: unknown;
}

const LEVELS = ['all', 'organisation', 'workspace'] as const;

export type IntegrationLevel = (typeof LEVELS)[number];

export class ListIntegrationsQuery extends WorkspacePageQuery {
  @QueryChoice(
    LEVELS,
    'Includes only integrations of the organization, or only those of a workspace. Default: all.',
    'must be "all", "organisation" or "workspace"',
  )
  readonly type: IntegrationLevel = 'all';
}

export class CreateIntegrationDto extends IntegrationFields {
  @TakesName('OpenAI of the company')
  readonly name: string;

  /** Default: made from the name. Unique in the organization. */
  @MayTakeSlug('openai-company')
  readonly slug?: string;

  /** A provider of docs/providers.md. */
  @TakesProvider()
  readonly ai_provider_id: string;

  /** Id or slug. Without it, an admin key's integration belongs to the organization. */
  @MayTakeWorkspace()
  readonly workspace_id?: string;

  /** Whether a workspace that can use it also gets a provider of it. */
  @ApiPropertyOptional({ default: true })
  @IfGiven()
  @IsBoolean()
  readonly create_default_provider?: boolean;

  @MayTakeSlug('openai')
  readonly default_provider_slug?: string;
}

/** Changing the host requires the secret again, so that it cannot be sent to a destination it was not entered for. */
export class UpdateIntegrationDto extends IntegrationFields {
  @MayTakeName('OpenAI of the company')
  readonly name?: string;
}

export class CreatedIntegrationDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'openai-company' })
  readonly slug: string;

  static from({ id, slug }: Integration): CreatedIntegrationDto {
    return Object.assign(new CreatedIntegrationDto(), { id, slug });
  }
}

export class IntegrationDto {
  @ApiId()
  readonly id: string;

  @ApiId()
  readonly organisation_id: string;

  /** Null for an integration of the organization. */
  @ApiIdOrNull(null)
  readonly workspace_id: string | null;

  @ApiProperty({ enum: ['organisation', 'workspace'] })
  readonly type: 'organisation' | 'workspace';

  @ApiProperty({ example: 'openai' })
  readonly ai_provider_id: string;

  @ApiProperty({ example: 'OpenAI of the company' })
  readonly name: string;

  @ApiProperty({ enum: ['active'] })
  readonly status = 'active';

  @ApiProperty({ example: 'openai-company' })
  readonly slug: string;

  @ApiTextOrNull()
  readonly description: string | null;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  @ApiProperty({ enum: ['integration'] })
  readonly object = 'integration';

  static from(row: Integration): IntegrationDto {
    return Object.assign(new IntegrationDto(), summaryOf(row));
  }
}

class GlobalAccessDto {
  @ApiProperty()
  readonly enabled: boolean;
}

export class IntegrationDetailDto extends IntegrationDto {
  @ApiProperty({ type: String, nullable: true, example: '***4f2a' })
  readonly masked_key: string | null;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: {} })
  readonly configurations: Readonly<Record<string, string>>;

  @ApiProperty({ type: GlobalAccessDto })
  readonly global_workspace_access_settings: GlobalAccessDto;

  @ApiProperty()
  readonly allow_all_models: boolean;

  static override from(row: Integration): IntegrationDetailDto {
    return Object.assign(new IntegrationDetailDto(), {
      ...summaryOf(row),
      masked_key: row.sealedCredentials === null ? null : `***${row.lastFour ?? ''}`,
      configurations: configurationsOf(row.customHost, row.fields),
      global_workspace_access_settings: { enabled: row.isOpenToAllWorkspaces },
      allow_all_models: row.allowsAllModels,
    });
  }
}

function summaryOf(row: Integration) {
  return {
    id: row.id,
    organisation_id: row.organizationId,
    workspace_id: row.workspaceId,
    type: row.workspaceId === null ? 'organisation' : 'workspace',
    ai_provider_id: row.providerId,
    name: row.name,
    slug: row.slug,
    description: row.description,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.updatedAt.toISOString(),
  } as const;
}

export class IntegrationListDto extends ListOf(IntegrationDto) {
  static from(rows: readonly Integration[], total: number): IntegrationListDto {
    return Object.assign(new IntegrationListDto(), {
      total,
      data: rows.map((row) => IntegrationDto.from(row)),
    });
  }
}
