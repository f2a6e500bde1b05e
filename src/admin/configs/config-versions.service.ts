import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import type { Principal } from '../../auth/principal.js';
import type { Reach } from '../../auth/tenant.js';
import { ConfigVersion } from './config-version.entity.js';
import { Config } from './config.entity.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { unknownSlug } from '../slugs/unknown-slug.js';
import { isUuid } from '../../common/ids/uuid-v7.js';

/** A config and one of its versions. */
export interface VersionedConfig {
  readonly config: Config;
  readonly version: ConfigVersion;
}

export type NewVersion = Omit<ConfigVersion, 'createdBy' | 'createdAt'>;

/** Finds configs and their versions that the caller can access. Versions are added and never changed. */
@Injectable()
export class ConfigVersionsService {
  constructor(
    @InjectRepository(Config) private readonly configs: Repository<Config>,
    @InjectRepository(ConfigVersion) private readonly configVersions: Repository<ConfigVersion>,
  ) {}

  /** By slug or id, with the current version. Another tenant's config is `not_found`, like one that never existed. */
  async find({ organizationId, workspaceId }: Reach, named: string, lock = false): Promise<VersionedConfig> {
    const reach = { organizationId, ...(workspaceId === undefined ? {} : { workspaceId }) };
    const which = isUuid(named) ? { id: named.toLowerCase() } : { slug: named };
    const config =
      isUuid(named) || isSlug(named)
        ? await this.configs.findOne({
            where: { ...reach, ...which },
            ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
          })
        : null;
    if (!config) throw await unknownSlug({ resource: 'config', named }, this.configs, reach);
    return { config, version: await this.version(config, config.versionId) };
  }

  /** Newest first. */
  list({ id: configId }: Config, { skip, take }: Page): Promise<[ConfigVersion[], number]> {
    return this.configVersions.findAndCount({ where: { configId }, order: { number: 'DESC' }, skip, take });
  }

  async version({ id: configId }: Config, id: string): Promise<ConfigVersion> {
    const version = isUuid(id)
      ? await this.configVersions.findOneBy({ configId, id: id.toLowerCase() })
      : null;
    if (!version) throw new AppError('not_found', { resource: 'version of this config' });
    return version;
  }

  /** The previous version, or the first version itself. */
  async before(version: ConfigVersion): Promise<ConfigVersion> {
    const { configId, number } = version;
    return (await this.configVersions.findOneBy({ configId, number: number - 1 })) ?? version;
  }

  /** The caller holds the lock of the config's row, or has just created it, so the number is free. */
  async add(caller: Principal, version: NewVersion): Promise<void> {
    await this.configVersions.insert({
      ...version,
      createdBy: personOf(caller),
    } as QueryDeepPartialEntity<ConfigVersion>);
  }

  async latestNumber({ id: configId }: Config): Promise<number> {
    return (await this.configVersions.maximum('number', { configId })) ?? 0;
  }
}

/** The user who acted, or on whose authority it was done. */
export const personOf = ({ userId, authorityId }: Principal): string | null => userId ?? authorityId;
