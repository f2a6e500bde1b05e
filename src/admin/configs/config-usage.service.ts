import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ApiKey } from '../api-keys/api-key.entity.js';
import type { Config } from './config.entity.js';
import { Workspace } from '../workspaces/workspace.entity.js';

/** What goes by a config. */
export interface ConfigUsage {
  /** API keys whose default it is. */
  readonly apiKeys: number;
  /** The workspace whose users' keys go by it; null where there is none. */
  readonly userKeysOf: string | null;
}

/** Tells what would be refused without a config. */
@Injectable()
export class ConfigUsageService {
  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
  ) {}

  async of({ organizationId, id, slug }: Config): Promise<ConfigUsage> {
    const apiKeys = await this.apiKeys.countBy({ organizationId, defaultConfigId: id });
    const workspace = await this.workspaces
      .createQueryBuilder('workspace')
      .select('workspace.slug', 'slug')
      .where('workspace.organization_id = :organizationId', { organizationId })
      .andWhere("workspace.defaults ->> 'user_api_key_config' IN (:id, :slug)", { id, slug })
      .getRawOne<{ slug: string }>();
    return { apiKeys, userKeysOf: workspace?.slug ?? null };
  }
}
