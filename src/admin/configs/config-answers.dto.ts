import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { RoutingConfig } from '../../routing-config/routing-config.js';
import type { ConfigVersion } from './config-version.entity.js';
import type { Config } from './config.entity.js';
import { AN_ID, ApiId, ApiObject } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { ConfigUsage } from './config-usage.service.js';
import { DifferenceDto } from './config-difference.dto.js';
import { ConfigDto, ConfigSummaryDto, ConfigVersionDto } from './config.dto.js';
import type { Difference } from '../../common/json/differences.js';

/** The saved state, or with `dry_run` the state that would be saved. */
class SavedDto {
  @ApiPropertyOptional({
    description: 'Id, assigned when the resource was created. It never changes.',
    format: 'uuid',
    example: AN_ID,
  })
  readonly id?: string;

  @ApiPropertyOptional({ description: 'Id of this version.', format: 'uuid', example: AN_ID })
  readonly version_id?: string;

  @ApiPropertyOptional({
    description: 'Short name for use in paths, headers and configs. It never changes.',
    example: 'pc-chat-1k3m9z',
  })
  readonly slug?: string;

  @ApiPropertyOptional({
    description: 'True if the request was only checked and nothing was saved.',
    enum: [true],
  })
  readonly dry_run?: true;

  @ApiPropertyOptional({
    description: 'The routing document as it was saved or would be saved.',
    type: 'object',
    additionalProperties: true,
  })
  readonly config?: RoutingConfig;

  @ApiPropertyOptional({
    description: 'Differences from the version in force, as paths with their old and new values.',
    type: [DifferenceDto],
  })
  readonly changes?: readonly Difference[];
}

export class SavedConfigDto {
  @ApiProperty({
    description: 'Always true. A failure has an error status and an `error` object instead.',
    enum: [true],
  })
  readonly success: true;

  @ApiProperty({ description: 'The saved config.', type: SavedDto })
  readonly data: SavedDto;

  static from({ id, slug, versionId }: Config): SavedConfigDto {
    return { success: true, data: { id, slug, version_id: versionId } };
  }

  static ofDryRun(config: RoutingConfig, changes: readonly Difference[]): SavedConfigDto {
    return { success: true, data: { dry_run: true, config, changes } };
  }
}

export class ShownConfigDto {
  @ApiProperty({
    description: 'Always true. A failure has an error status and an `error` object instead.',
    enum: [true],
  })
  readonly success: true;

  @ApiProperty({ description: 'The config.', type: ConfigDto })
  readonly data: ConfigDto;

  static of(config: Config, version: ConfigVersion): ShownConfigDto {
    return { success: true, data: ConfigDto.of(config, version) };
  }
}

export class ConfigListDto {
  @ApiProperty({
    description: 'Always true. A failure has an error status and an `error` object instead.',
    enum: [true],
  })
  readonly success: true;

  @ApiObject('list')
  readonly object: 'list';

  @ApiProperty({ description: 'Number of matching items on all pages.', example: 1 })
  readonly total: number;

  @ApiProperty({ description: 'The items of this page.', type: [ConfigSummaryDto] })
  readonly data: readonly ConfigSummaryDto[];

  static from(configs: readonly Config[], total: number): ConfigListDto {
    return { success: true, object: 'list', total, data: configs.map((row) => ConfigSummaryDto.from(row)) };
  }
}

export class ConfigVersionListDto extends ListOf(ConfigVersionDto) {
  static of(config: Config, versions: readonly ConfigVersion[], total: number): ConfigVersionListDto {
    const data = versions.map((version) => ConfigVersionDto.of(config, version));
    return { object: 'list', total, data };
  }
}

/** The compared versions, and the differences between them. */
export class ConfigDiffDto {
  @ApiObject('config-diff')
  readonly object: 'config-diff';

  @ApiId('Id of the older version.')
  readonly from: string;

  @ApiId('Id of the newer version.')
  readonly to: string;

  @ApiProperty({
    description: 'Differences from the version in force, as paths with their old and new values.',
    type: [DifferenceDto],
  })
  readonly changes: readonly Difference[];

  static of(from: ConfigVersion, to: ConfigVersion, changes: readonly Difference[]): ConfigDiffDto {
    return { object: 'config-diff', from: from.id, to: to.id, changes };
  }
}

/** The users of a config: API keys and the workspace's default. While keys use it, it can be neither deleted nor archived. */
export class ConfigUsageDto {
  @ApiObject('config-usage')
  readonly object: 'config-usage';

  @ApiProperty({ description: 'Number of API keys whose default config it is.', type: 'integer', example: 3 })
  readonly api_keys: number;

  @ApiProperty({
    description: 'Slug of the workspace whose user API keys use it by default. Null if there is none.',
    type: String,
    nullable: true,
    example: null,
  })
  readonly user_keys_of: string | null;

  @ApiProperty({ description: 'Whether requests of the workspace that name no config use it.' })
  readonly is_default: boolean;

  static of({ isDefault }: Config, { apiKeys, userKeysOf }: ConfigUsage): ConfigUsageDto {
    return { object: 'config-usage', api_keys: apiKeys, user_keys_of: userKeysOf, is_default: isDefault };
  }
}
