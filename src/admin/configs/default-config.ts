import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ChangePublisher } from '../../common/changes/change.js';
import { Config } from './config.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';

/** The config for a workspace's requests that name none. There is at most one. */
@Injectable()
export class DefaultConfig {
  constructor(
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    @InjectRepository(Config) private readonly configs: Repository<Config>,
    private readonly changes: ChangePublisher,
  ) {}

  /** Sets or unsets it as the default; returns the resulting config. Undefined `wanted` changes nothing. */
  async set(config: Config, isDefault: boolean | undefined): Promise<Config> {
    const { id, organizationId, workspaceId } = config;
    if (isDefault === undefined || isDefault === config.isDefault || workspaceId === null) return config;
    // Two configs that become the default at once wait for each other here. Both may have just been inserted, and so hold a foreign key
    // lock on this row, for which a stronger lock would wait.
    await this.workspaces.findOneOrFail({ where: { id: workspaceId }, lock: { mode: 'for_no_key_update' } });
    if (isDefault)
      await this.configs.update({ organizationId, workspaceId, isDefault: true }, { isDefault: false });
    await this.configs.update({ id }, { isDefault: isDefault });
    await this.workspaces.update({ id: workspaceId }, { defaultConfigId: isDefault ? id : null });
    // Cached keys include their workspace's default.
    await this.changes.publish({ resource: 'organization', id: organizationId });
    return this.configs.findOneByOrFail({ id });
  }
}
