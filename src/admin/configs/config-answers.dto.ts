import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { RoutingConfig } from '../../routing-config/routing-config.js';
import type { ConfigVersion } from './config-version.entity.js';
import type { Config } from './config.entity.js';
import { AN_ID, ApiId } from '../dto-fields/fields.js';
import { ListOf } from '../dto-fields/list.dto.js';
import type { ConfigUsage } from './config-usage.service.js';
import { ConfigDto, ConfigSummaryDto, ConfigVersionDto, DifferenceDto } from './config.dto.js';
import type { Difference } from '../../common/json/differences.js';

/** The saved state, or with `dry_run` the state that would be saved. */
class SavedDto {
  @ApiPropertyOptional({ format: 'uuid', example: AN_ID })
  readonly id?: string;

  @ApiPropertyOptional({ format: 'uuid', example: AN_ID })
  readonly version_id?: string;

  @ApiPropertyOptional({ example: 'pc-chat-1k3m9z' })
  readonly slug?: string;

  @ApiPropertyOptional({ enum: [true] })
  readonly dry_run?: true;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  readonly config?: RoutingConfig;

  @ApiPropertyOptional({ type: [DifferenceDto] })
  readonly changes?: readonly Difference[];
}

export class SavedConfigDto {
  @ApiProperty({ enum: [true] })
  readonly success = true;

  @ApiProperty({ type: SavedDto })
  readonly data: SavedDto;

  static from({ id, slug, versionId }: Config): SavedConfigDto {
    return Object.assign(new SavedConfigDto(), { data: { id, slug, version_id: versionId } });
  }

  static rehearsed(config: RoutingConfig, changes: readonly Difference[]): SavedConfigDto {
    return Object.assign(new SavedConfigDto(), { data: { dry_run: true, config, changes } });
  }
}

export class ShownConfigDto {
  @ApiProperty({ enum: [true] })
  readonly success = true;

  @ApiProperty({ type: ConfigDto })
  readonly data: ConfigDto;

  static of(config: Config, version: ConfigVersion): ShownConfigDto {
    return Object.assign(new ShownConfigDto(), { data: ConfigDto.of(config, version) });
  }
}

export class ConfigListDto {
  @ApiProperty({ enum: [true] })
  readonly success = true;

  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ example: 1 })
  readonly total: number;

  @ApiProperty({ type: [ConfigSummaryDto] })
  readonly data: readonly ConfigSummaryDto[];

  static from(configs: readonly Config[], total: number): ConfigListDto {
    return Object.assign(new ConfigListDto(), {
      total,
      data: configs.map((row) => ConfigSummaryDto.from(row)),
    });
  }
}

export class ConfigVersionListDto extends ListOf(ConfigVersionDto) {
  static of(config: Config, versions: readonly ConfigVersion[], total: number): ConfigVersionListDto {
    const data = versions.map((version) => ConfigVersionDto.of(config, version));
    return Object.assign(new ConfigVersionListDto(), { total, data });
  }
}

/** The compared versions, and the differences between them. */
export class ConfigDiffDto {
  @ApiProperty({ enum: ['config-diff'] })
  readonly object = 'config-diff';

  @ApiId()
  readonly from: string;

  @ApiId()
  readonly to: string;

  @ApiProperty({ type: [DifferenceDto] })
  readonly changes: readonly Difference[];

  static of(from: ConfigVersion, to: ConfigVersion, changes: readonly Difference[]): ConfigDiffDto {
    return Object.assign(new ConfigDiffDto(), { from: from.id, to: to.id, changes });
  }
}

/** The users of a config: API keys and the workspace's default. While keys use it, it can be neither deleted nor archived. */
export class ConfigUsageDto {
  @ApiProperty({ enum: ['config-usage'] })
  readonly object = 'config-usage';

  @ApiProperty({ type: 'integer', example: 3 })
  readonly api_keys: number;

  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
  })
  readonly user_keys_of: string | null;

  @ApiProperty()
  readonly is_default: boolean;

  static of({ isDefault }: Config, { apiKeys, userKeysOf }: ConfigUsage): ConfigUsageDto {
    return Object.assign(new ConfigUsageDto(), {
      api_keys: apiKeys,
      user_keys_of: userKeysOf,
      is_default: isDefault,
    });
  }
}
