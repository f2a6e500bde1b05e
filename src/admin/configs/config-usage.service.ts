import { Injectable } from '@nestjs/common';
import type { Config } from './config.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** The users of a config. */
export interface ConfigUsage {
  /** API keys whose default it is. */
  readonly apiKeys: number;
  /** The workspace whose users' keys use it; null without one. */
  readonly userKeysOf: string | null;
}

/** Tables instead of entities: API keys depend on configs, so this module must not import theirs. */
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
