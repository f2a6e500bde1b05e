import { Injectable } from '@nestjs/common';
import type { Config } from './config.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** What goes by a config. */
export interface ConfigUsage {
  /** API keys whose default it is. */
  readonly apiKeys: number;
  /** The workspace whose users' keys go by it; null where there is none. */
  readonly userKeysOf: string | null;
}

/** Tables and not entities: an API key names its config, so the room of API keys stands above this one. */
const USAGE = `
  SELECT
    (SELECT count(*)::integer FROM api_keys
      WHERE organization_id = $1 AND default_config_id = $2::uuid AND deleted_at IS NULL) AS "apiKeys",
    (SELECT slug FROM workspaces
      WHERE organization_id = $1 AND defaults ->> 'user_api_key_config' IN ($2::uuid::text, $3) LIMIT 1) AS "userKeysOf"`;

/** Lists what would be refused without a config. */
@Injectable()
export class ConfigUsageService {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  async of({ organizationId, id, slug }: Config): Promise<ConfigUsage> {
    const [usage]: ConfigUsage[] = await this.unitOfWork.manager.query(USAGE, [organizationId, id, slug]);
    return usage ?? { apiKeys: 0, userKeysOf: null };
  }
}
