import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsObject } from 'class-validator';
import type { Integration } from './integration.entity.js';
import { HasNoEffectYet, IfGiven } from '../../common/http/validators.js';
import {
  ApiId,
  ApiIdOrNull,
  ApiTextOrNull,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeNote,
  MayTakeWorkspace,
  TakesProvider,
  MayTakeSecret,
} from '../dto-fields/fields.js';
import {
  MayTakeSecretMappings,
  type SecretMappingDto,
  ShownSecretMappingDto,
  ShownSecretMappings,
} from '../dto-fields/secret-mapping.dto.js';
import { ListOf } from '../dto-fields/list.dto.js';
import { configurationsOf } from './integration-configurations.js';
import { QueryChoice } from '../http/query-fields.js';
import { WorkspacePageQuery } from '../http/page-query.dto.js';
import { Audited } from '../dto-fields/audited.js';

class IntegrationFields {
  @MayTakeSecret()
  readonly key?: string;

  @MayTakeNote('Free text: what the resource is for. Null if there is none.')
  readonly description?: string | null;

  @ApiPropertyOptional({
    description:
      'Further settings of the provider account, by the names in the provider catalogue with underscores, and `custom_host`. A change replaces all of them. Default: none.',
    type: 'object',
    additionalProperties: true,
    example: { openai_project: 'proj_4711' },
  })
  @IfGiven()
  @IsObject()
  readonly configurations?: Readonly<Record<string, unknown>>;

  /** Fields that take their values from secret references. A change replaces all of them; null removes them. */
  @MayTakeSecretMappings()
  readonly secret_mappings?: readonly SecretMappingDto[] | null;

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
  @Audited()
  @TakesName('OpenAI of the company', 'Name of the integration.')
  readonly name: string;

  @Audited()
  @MayTakeSlug('openai-company')
  readonly slug?: string;

  @TakesProvider()
  readonly ai_provider_id: string;

  @MayTakeWorkspace(
    'Id or slug of the workspace. Null or left out: the integration belongs to the organization.',
  )
  readonly workspace_id?: string;

  @ApiPropertyOptional({
    description:
      'Whether a workspace with access gets a provider of this integration at once. Default: true.',
    default: true,
  })
  @IfGiven()
  @IsBoolean()
  readonly create_default_provider?: boolean;

  @MayTakeSlug('openai', 'Slug of that provider. Default: made from the slug of the integration.')
  readonly default_provider_slug?: string;
}

/** Changing the host requires the secret again, so that it cannot be sent to a destination it was not entered for. */
export class UpdateIntegrationDto extends IntegrationFields {
  @Audited()
  @MayTakeName('OpenAI of the company', 'Name of the integration.')
  readonly name?: string;
}

export class CreatedIntegrationDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'openai-company',
  })
  readonly slug: string;

  static from({ id, slug }: Integration): CreatedIntegrationDto {
    return { id, slug };
  }
}

export class IntegrationDto {
  @ApiId()
  readonly id: string;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiIdOrNull('Id of the workspace. Null: the integration belongs to the organization.', null)
  readonly workspace_id: string | null;

  @ApiProperty({
    description: 'Whether the integration belongs to the organization or to one workspace.',
    enum: ['organisation', 'workspace'],
  })
  readonly type: 'organisation' | 'workspace';

  @ApiProperty({ description: 'Id of the provider in the provider catalogue.', example: 'openai' })
  readonly ai_provider_id: string;

  @ApiProperty({ description: 'Name of the integration.', example: 'OpenAI of the company' })
  readonly name: string;

  @ApiProperty({ description: 'State of the integration. Always `active`.', enum: ['active'] })
  readonly status: 'active';

  @ApiProperty({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'openai-company',
  })
  readonly slug: string;

  @ApiTextOrNull('Free text: what the resource is for. Null if there is none.')
  readonly description: string | null;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiObject('integration')
  readonly object: 'integration';

  static from(row: Integration): IntegrationDto {
    return { status: 'active', object: 'integration', ...summaryOf(row) };
  }
}

class GlobalAccessDto {
  @ApiProperty({ description: 'Whether these workspaces may use the integration.' })
  readonly enabled: boolean;
}

export class IntegrationDetailDto extends IntegrationDto {
  @ApiProperty({
    description: 'The last characters of the credential. Null if there is none.',
    type: String,
    nullable: true,
    example: '***4f2a',
  })
  readonly masked_key: string | null;

  @ApiProperty({
    description:
      'Further settings of the provider account, by the names in the provider catalogue with underscores, and `custom_host`. A change replaces all of them. Default: none.',
    type: 'object',
    additionalProperties: { type: 'string' },
    example: {},
  })
  readonly configurations: Readonly<Record<string, string>>;

  @ShownSecretMappings()
  readonly secret_mappings: readonly ShownSecretMappingDto[] | null;

  @ApiProperty({
    description: 'Access of all workspaces without a setting of their own, those created later included.',
    type: GlobalAccessDto,
  })
  readonly global_workspace_access_settings: GlobalAccessDto;

  @ApiProperty({ description: 'Whether models without a setting of their own may be used. Default: true.' })
  readonly allow_all_models: boolean;

  static override from(row: Integration): IntegrationDetailDto {
    return {
      status: 'active',
      object: 'integration',
      ...summaryOf(row),
      masked_key: row.sealedCredentials === null ? null : `***${row.lastFour ?? ''}`,
      configurations: configurationsOf(row.customHost, row.fields),
      secret_mappings: row.secretMappings?.map((mapping) => ShownSecretMappingDto.from(mapping)) ?? null,
      global_workspace_access_settings: { enabled: row.isOpenToAllWorkspaces },
      allow_all_models: row.allowsAllModels,
    };
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
    return { object: 'list', total, data: rows.map((row) => IntegrationDto.from(row)) };
  }
}
