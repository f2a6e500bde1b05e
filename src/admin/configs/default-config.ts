import { Injectable } from '@nestjs/common';
import { ChangePublisher } from '../../common/changes/change.js';
import { Config } from './config.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** The config of a workspace's requests that name none. There is one at most. */
@Injectable()
export class DefaultConfig {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly changes: ChangePublisher,
  ) {}

  /** Makes it the default or not; answers the config as it is then. Nothing is wanted where `wanted` is undefined. */
  async set(config: Config, wanted: boolean | undefined): Promise<Config> {
    const { id, organizationId, workspaceId } = config;
    if (wanted === undefined || wanted === config.isDefault || workspaceId === null) return config;
    const workspaces = this.unitOfWork.repository(Workspace);
    // Two configs that become the default at once wait for each other here. Both may have been inserted just now, and so
    // hold the lock of a foreign key on this row, which a stronger lock would wait for.
    await workspaces.findOneOrFail({ where: { id: workspaceId }, lock: { mode: 'for_no_key_update' } });
    const configs = this.unitOfWork.repository(Config);
    if (wanted) await configs.update({ organizationId, workspaceId, isDefault: true }, { isDefault: false });
    await configs.update({ id }, { isDefault: wanted });
    await workspaces.update({ id: workspaceId }, { defaultConfigId: wanted ? id : null });
    // Keys carry the default of their workspace.
    await this.changes.publish({ resource: 'organization', id: organizationId });
    return configs.findOneByOrFail({ id });
  }
}
