import { Injectable } from '@nestjs/common';
import { ChangePublisher } from '../../common/changes/change.js';
import { Config } from './config.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** The config for a workspace's requests that name none. There is at most one. */
@Injectable()
export class DefaultConfig {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly changes: ChangePublisher,
  ) {}

  /** Sets or unsets it as the default; returns the resulting config. Undefined `wanted` changes nothing. */
  async set(config: Config, wanted: boolean | undefined): Promise<Config> {
    const { id, organizationId, workspaceId } = config;
    if (wanted === undefined || wanted === config.isDefault || workspaceId === null) return config;
    const workspaces = this.unitOfWork.repository(Workspace);
    // Two configs that become the default at once wait for each other here. Both may have just been inserted, and so hold a foreign key
    // lock on this row, for which a stronger lock would wait.
    await workspaces.findOneOrFail({ where: { id: workspaceId }, lock: { mode: 'for_no_key_update' } });
    const configs = this.unitOfWork.repository(Config);
    if (wanted) await configs.update({ organizationId, workspaceId, isDefault: true }, { isDefault: false });
    await configs.update({ id }, { isDefault: wanted });
    await workspaces.update({ id: workspaceId }, { defaultConfigId: wanted ? id : null });
    // Cached keys include their workspace's default.
    await this.changes.publish({ resource: 'organization', id: organizationId });
    return configs.findOneByOrFail({ id });
  }
}
