import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsUUID } from 'class-validator';
import type { RoutingConfig } from '../../routing-config/routing-config.js';
import type { ConfigVersion } from './config-version.entity.js';
import type { Config } from './config.entity.js';
import { IfGiven, IsIdOrSlug, rule } from '../../common/http/validators.js';
import type { Difference } from '../../common/json/differences.js';
import {
  AN_ID,
  ApiId,
  ApiMoment,
  TakesName,
  MayTakeName,
  MayTakeSlug,
  MayTakeWorkspace,
} from '../dto-fields/fields.js';
import { QueryDto } from '../http/query.dto.js';
import { QueryText, QueryFlag } from '../http/query-fields.js';

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

type Switch = 0 | 1 | boolean;

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

export class DiffConfigVersionsQuery extends QueryDto {
  @QueryText('Id of the older version. Default: the version before `to`.')
  readonly from?: string;

  @QueryText('Id of the newer version. Default: the version in force.')
  readonly to?: string;
}

export class CreateConfigDto {
  @TakesName('Chat with a fallback')
  readonly name: string;

  @ApiProperty(CONFIG_SCHEMA)
  @IsConfig()
  readonly config: unknown;

  /** Default: made from the name. Unique in the organization. */
  @MayTakeSlug('pc-chat')
  readonly slug?: string;

  /** The spelling of the compatible API for `is_default`. */
  @ApiHideProperty()
  @IsSwitch()
  readonly isDefault?: Switch;

  @ApiPropertyOptional(SWITCH)
  @IsSwitch()
  readonly is_default?: Switch;

  /** Id or slug. A workspace key may omit it: it has only one. */
  @MayTakeWorkspace()
  readonly workspace_id?: string;
}

/** Omitted fields stay unchanged. A changed document creates a new version. */
export class UpdateConfigDto {
  /** The compatible SDK repeats the slug of the path here. */
  @ApiHideProperty()
  @IfGiven()
  @IsIdOrSlug()
  readonly slug?: string;

  @MayTakeName('Chat with a fallback')
  readonly name?: string;

  @ApiPropertyOptional(CONFIG_SCHEMA)
  @IfGiven()
  @IsConfig()
  readonly config?: unknown;

  /** Requests that name an archived config are refused. */
  @ApiPropertyOptional({ enum: ['active', 'archived'] })
  @IfGiven()
  @IsIn(['active', 'archived'])
  readonly status?: 'active' | 'archived';

  @ApiHideProperty()
  @IsSwitch()
  readonly isDefault?: Switch;

  @ApiPropertyOptional(SWITCH)
  @IsSwitch()
  readonly is_default?: Switch;
}

/** The spelling that was used; undefined without either. */
export function wantsDefault({ isDefault, is_default }: UpdateConfigDto): boolean | undefined {
  const given = is_default ?? isDefault;
  return given === undefined ? undefined : Boolean(given);
}

export class RollBackDto {
  @ApiId()
  @IsUUID()
  readonly version_id: string;
}

const IsOptionalId = (): PropertyDecorator =>
  ApiProperty({ type: String, format: 'uuid', nullable: true, example: AN_ID });

/** A config without its document. */
export class ConfigSummaryDto {
  @ApiId()
  readonly id: string;

  @ApiProperty({ example: 'Chat with a fallback' })
  readonly name: string;

  @ApiProperty({ example: 'pc-chat-1k3m9z' })
  readonly slug: string;

  @ApiId()
  readonly organisation_id: string;

  @IsOptionalId()
  readonly workspace_id: string | null;

  @ApiProperty({ enum: [0, 1] })
  readonly is_default: 0 | 1;

  @ApiProperty({ enum: ['active', 'archived'] })
  readonly status: 'active' | 'archived';

  @IsOptionalId()
  readonly owner_id: string | null;

  @IsOptionalId()
  readonly updated_by: string | null;

  @ApiMoment()
  readonly created_at: string;

  @ApiMoment()
  readonly last_updated_at: string;

  @ApiId()
  readonly version_id: string;

  @ApiProperty({ enum: ['config'] })
  readonly object = 'config';

  static from(config: Config): ConfigSummaryDto {
    return Object.assign(new ConfigSummaryDto(), summaryOf(config));
  }
}

/** A config, or an earlier version of it. */
export class ConfigDto extends ConfigSummaryDto {
  @ApiProperty({ type: 'object', additionalProperties: true, example: EXAMPLE })
  readonly config: RoutingConfig;

  @ApiProperty({ example: 3 })
  readonly version: number;

  @ApiProperty({ enum: ['json'] })
  readonly format = 'json';

  static of(config: Config, version: ConfigVersion): ConfigDto {
    return Object.assign(new ConfigDto(), {
      ...summaryOf(config),
      version_id: version.id,
      version: version.number,
      config: version.document,
    });
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
  @ApiProperty({ example: JSON.stringify(EXAMPLE) })
  readonly config: string;

  @ApiProperty({ example: 3 })
  readonly version: number;

  @ApiProperty({ enum: ['json'] })
  readonly format = 'json';

  @ApiProperty({ enum: ['config'] })
  readonly type = 'config';

  static of(config: Config, version: ConfigVersion): ConfigVersionDto {
    return Object.assign(new ConfigVersionDto(), {
      ...summaryOf(config),
      version_id: version.id,
      version: version.number,
      updated_by: version.createdBy,
      last_updated_at: version.createdAt.toISOString(),
      config: JSON.stringify(version.document),
    });
  }
}

/** Any JSON value. */
const ANY_VALUE = {
  anyOf: [
    { type: 'object' as const, additionalProperties: true, nullable: true },
    { type: 'array' as const, items: {} },
    { type: 'string' as const },
    { type: 'number' as const },
    { type: 'boolean' as const },
  ],
};

export class DifferenceDto implements Difference {
  @ApiProperty({ enum: ['add', 'remove', 'replace'] })
  readonly op: Difference['op'];

  /** A JSON pointer, https://www.rfc-editor.org/rfc/rfc6901. */
  @ApiProperty({ example: '/targets/0/weight' })
  readonly path: string;

  @ApiPropertyOptional({ ...ANY_VALUE, example: 2 })
  readonly value?: unknown;

  @ApiPropertyOptional({ ...ANY_VALUE, example: 1 })
  readonly old_value?: unknown;
}
