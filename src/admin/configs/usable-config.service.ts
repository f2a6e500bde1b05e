import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import type { Reach } from '../../auth/tenant.js';
import { Config } from './config.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

/** Finds the configs that requests of a workspace can use: its own, and those of the organization. */
@Injectable()
export class UsableConfig {
  constructor(@InjectRepository(Config) private readonly configs: Repository<Config>) {}

  /**
   * The active config with that slug or id, locked until the end of the transaction. Refuses with `invalid_request`, which names the field
   * with the reference.
   */
  async find({ organizationId, workspaceId }: Reach, named: string, field: string): Promise<Config> {
    const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
    const places = workspaceId === undefined ? [IsNull()] : [IsNull(), workspaceId];
    const config =
      isUuid(named) || isSlug(named)
        ? await this.configs.findOne({
            where: places.map((place) => ({
              ...{ organizationId, workspaceId: place, status: 'active' as const },
              ...which,
            })),
            lock: { mode: 'pessimistic_read' },
          })
        : null;
    if (!config)
      throw new AppError('invalid_request', {
        detail: `${field} names no active config that can be used here. List them with GET /v1/configs.`,
      });
    return config;
  }
}
