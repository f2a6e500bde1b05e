import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsUUID } from 'class-validator';
import type { RoutingConfig } from '../../routing-config/routing-config.js';
import type { ConfigVersion } from './config-version.entity.js';
import type { Config } from './config.entity.js';
import { IfGiven, IsIdOrSlug, rule } from '../../common/http/validators.js';
import {
  ApiId,
  ApiIdOrNull,
  ApiObject,
  ApiCreatedAt,
  ApiLastUpdatedAt,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeWorkspace,
} from '../dto-fields/fields.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryFlag } from '../http/query-fields.js';
import { Audited } from '../dto-fields/audited.js';

const EXAMPLE = {
  strategy: { mode: 'fallback' },
  targets: [{ provider: 'openai' }, { provider: 'anthropic' }],
};

const IsConfig = (): PropertyDecorator =>
  rule(
    'isConfig',
    'it must be an object, or a JSON string of one',
    (value) =>
      typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value)),
  );

const SWITCH = {
  oneOf: [{ type: 'integer' as const, enum: [0, 1] }, { type: 'boolean' as const }],
  description: 'Whether requests of the workspace that name no config use this one. Default: false.',
  example: 0,
};

/** 0 and 1, or false and true. */
const IsSwitch = (): PropertyDecorator =>
  applyDecorators(IfGiven(), IsIn([0, 1, true, false], { message: 'it must be 0, 1, true or false' }));

type DefaultFlag = 0 | 1 | boolean;

const CONFIG_SCHEMA = {
  oneOf: [{ type: 'object' as const, additionalProperties: true }, { type: 'string' as const }],
  description:
    'Routing document: targets and the strategy that chooses between them, as an object or as JSON text. `POST /v1/configs/simulate` shows which targets a request would reach.',
  example: EXAMPLE,
};

/** For an operation that saves a config. A dry run must change nothing. */
export class SaveConfigQuery extends QueryDto {
  @QueryFlag('True only checks the request and returns what would be saved. Default: false.', {
    default: false,
  })
  readonly dry_run: boolean = false;
}

export class CreateConfigDto {
  @Audited()
  @TakesName('Chat with a fallback', 'Name of the config.')
  readonly name: string;

  @ApiProperty(CONFIG_SCHEMA)
  @IsConfig()
  readonly config: unknown;

  @Audited()
  @MayTakeSlug(
    'pc-chat',
    'Short name for the header `x-gateway-config`. Default: made from the name. It never changes.',
  )
  readonly slug?: string;

  /** The spelling of the compatible API for `is_default`. */
  @ApiHideProperty()
  @IsSwitch()
  readonly isDefault?: DefaultFlag;

  @ApiPropertyOptional(SWITCH)
  @IsSwitch()
  readonly is_default?: DefaultFlag;

  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

/** Omitted fields stay unchanged. A changed document creates a new version. */
export class UpdateConfigDto {
  /** The compatible SDK repeats the slug of the path here. */
  @Audited()
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly slug?: string;

  @Audited()
  @MayTakeName('Chat with a fallback', 'Name of the config.')
  readonly name?: string;

  @ApiPropertyOptional(CONFIG_SCHEMA)
  @IfGiven()
  @IsConfig()
  readonly config?: unknown;

  @Audited()
  @ApiPropertyOptional({
    description: 'Requests that name an `archived` config are refused.',
    enum: ['active', 'archived'],
  })
  @IfGiven()
  @IsIn(['active', 'archived'])
  readonly status?: 'active' | 'archived';

  @ApiHideProperty()
  @IsSwitch()
  readonly isDefault?: DefaultFlag;

  @ApiPropertyOptional(SWITCH)
  @IsSwitch()
  readonly is_default?: DefaultFlag;
}

/** The spelling that was used; undefined without either. */
export function wantsDefault({ isDefault, is_default }: UpdateConfigDto): boolean | undefined {
  const given = is_default ?? isDefault;
  return given === undefined ? undefined : Boolean(given);
}

export class RollBackDto {
  @Audited()
  @ApiId('Id of the version whose document to put in force again.')
  @IsUUID()
  readonly version_id: string;
}

/** A config without its document. */
export class ConfigSummaryDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ description: 'Name of the config.', example: 'Chat with a fallback' })
  readonly name: string;

  @ApiProperty({
    description: 'Short name for the header `x-gateway-config`. It never changes.',
    example: 'pc-chat-1k3m9z',
  })
  readonly slug: string;

  @ApiId('Id of the organization.')
  readonly organisation_id: string;

  @ApiIdOrNull('Id of the workspace. Null if the resource belongs to the whole organization.')
  readonly workspace_id: string | null;

  @ApiProperty({
    description: '1 if requests of the workspace that name no config use this one, else 0.',
    enum: [0, 1],
  })
  readonly is_default: 0 | 1;

  @ApiProperty({
    description: 'Requests that name an `archived` config are refused.',
    enum: ['active', 'archived'],
  })
  readonly status: 'active' | 'archived';

  @ApiIdOrNull('Id of the user or API key that created the resource. Null if it is unknown.')
  readonly owner_id: string | null;

  @ApiIdOrNull('Id of the user or API key that made the last change. Null if it was never changed.')
  readonly updated_by: string | null;

  @ApiCreatedAt()
  readonly created_at: string;

  @ApiLastUpdatedAt()
  readonly last_updated_at: string;

  @ApiId('Id of this version.')
  readonly version_id: string;

  @ApiObject('config')
  readonly object: 'config';

  static from(config: Config): ConfigSummaryDto {
    return { object: 'config', ...summaryOf(config) };
  }
}

/** A config, or an earlier version of it. */
export class ConfigDto extends ConfigSummaryDto {
  @ApiProperty({
    description:
      'Routing document: targets and the strategy that chooses between them. `POST /v1/configs/simulate` shows which targets a request would reach.',
    type: 'object',
    additionalProperties: true,
    example: EXAMPLE,
  })
  readonly config: RoutingConfig;

  @ApiProperty({ description: 'Number of the version, counted from 1.', example: 3 })
  readonly version: number;

  @ApiProperty({ description: 'Format of the document. Always `json`.', enum: ['json'] })
  readonly format: 'json';

  static of(config: Config, version: ConfigVersion): ConfigDto {
    return {
      object: 'config',
      format: 'json',
      ...summaryOf(config),
      version_id: version.id,
      version: version.number,
      config: version.document,
    };
  }
}

function summaryOf(config: Config) {
  return {
    id: config.id,
    name: config.name,
    slug: config.slug,
    organisation_id: config.organizationId,
    workspace_id: config.workspaceId,
    is_default: config.isDefault ? 1 : 0,
    status: config.status,
    owner_id: config.ownerId,
    updated_by: config.updatedBy,
    created_at: config.createdAt.toISOString(),
    last_updated_at: config.updatedAt.toISOString(),
    version_id: config.versionId,
  } as const;
}

/** A version in a list, where the compatible API has the document as a text. */
export class ConfigVersionDto extends ConfigSummaryDto {
  @ApiProperty({
    description: 'Routing document of this version, as JSON text.',
    example: JSON.stringify(EXAMPLE),
  })
  readonly config: string;

  @ApiProperty({ description: 'Number of the version, counted from 1.', example: 3 })
  readonly version: number;

  @ApiProperty({ description: 'Format of the document. Always `json`.', enum: ['json'] })
  readonly format: 'json';

  @ApiProperty({ description: 'Kind of the document. Always `config`.', enum: ['config'] })
  readonly type: 'config';

  static of(config: Config, version: ConfigVersion): ConfigVersionDto {
    return {
      object: 'config',
      format: 'json',
      type: 'config',
      ...summaryOf(config),
      version_id: version.id,
      version: version.number,
      updated_by: version.createdBy,
      last_updated_at: version.createdAt.toISOString(),
      config: JSON.stringify(version.document),
    };
  }
}
