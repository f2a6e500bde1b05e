import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { Reach, Tenant } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import type { RoutingConfig } from '../../routing-config/routing-config.js';
import { Config } from './config.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { slugOfName, withSuffix } from '../../common/ids/slug-of-name.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { claimSlug } from '../slugs/claim-slug.js';
import { ConfigChecker, type ConfigScope } from './config-checker.service.js';
import { ConfigUsageService } from './config-usage.service.js';
import { ConfigVersionsService, personOf, type VersionedConfig } from './config-versions.service.js';
import { ConfigDto, type CreateConfigDto, type UpdateConfigDto, wantsDefault } from './config.dto.js';
import { DefaultConfig } from './default-config.js';
import { type Difference, differences } from '../../common/json/differences.js';

/** The state that would be saved. */
export interface ConfigDryRun {
  readonly document: RoutingConfig;
  readonly changes: readonly Difference[];
}

@Injectable()
export class ConfigsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Config) private readonly configs: Repository<Config>,
    private readonly versions: ConfigVersionsService,
    private readonly checker: ConfigChecker,
    private readonly usage: ConfigUsageService,
    private readonly defaults: DefaultConfig,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  async create(caller: Principal, tenant: Tenant, dto: CreateConfigDto): Promise<Config> {
    const document = await this.checker.read(tenant, dto.config);
    const { organizationId } = tenant;
    const [configId, versionId] = [uuidV7(Date.now()), uuidV7(Date.now())];
    const person = personOf(caller);
    const row = {
      ...tenant,
      id: configId,
      name: dto.name,
      isDefault: false,
      status: 'active',
      versionId,
    } as const;
    await claimSlug(
      { chosen: dto.slug ?? newSlug(dto.name), name: dto.name, otherwise: 'config' },
      async (slug) =>
        (await this.unitOfWork.insertUnlessTaken(Config, {
          ...row,
          slug,
          ownerId: person,
          updatedBy: person,
        })) > 0,
    );
    await this.versions.add(caller, { id: versionId, organizationId, configId, number: 1, document });
    const made = await this.versions.find(tenant, configId);
    const config = await this.defaults.set(made.config, wantsDefault(dto));
    await this.changed({ config, version: made.version });
    return config;
  }

  /** Newest first. */
  list(reach: Reach, { skip, take }: Page): Promise<[Config[], number]> {
    return this.configs.findAndCount({
      where: { ...reach },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
  }

  /** A changed document creates a new version; the previous one stays in force until the commit. */
  async update(caller: Principal, reach: Reach, named: string, dto: UpdateConfigDto): Promise<Config> {
    const before = await this.versions.find(reach, named, true);
    if (dto.slug !== undefined && dto.slug !== named && dto.slug !== before.config.slug)
      throw new AppError('invalid_request', {
        detail: 'The slug of a config cannot be changed; the field "slug" may only repeat that of the path.',
      });
    const shown = ConfigDto.of(before.config, before.version);
    const document = dto.config === undefined ? null : await this.checker.read(before.config, dto.config);
    const config = await this.save(caller, before, document, dto);
    await this.changed({ config, version: await this.versions.version(config, config.versionId) }, shown);
    return config;
  }

  /** The document of an earlier version becomes a new version, if it would still run. */
  async rollBack(caller: Principal, reach: Reach, named: string, versionId: string): Promise<Config> {
    const before = await this.versions.find(reach, named, true);
    const { document } = await this.versions.version(before.config, versionId);
    return this.update(caller, reach, before.config.id, { config: document });
  }

  /** Returns what a creation or change would save. Saves nothing, not even an audit record. */
  async dryRun(place: ConfigScope, given: unknown, before?: VersionedConfig): Promise<ConfigDryRun> {
    this.audit.leaveOut();
    const now = before ? before.version.document : {};
    const document =
      given === undefined && before ? before.version.document : await this.checker.read(place, given);
    if (before) this.audit.note({ before: ConfigDto.of(before.config, before.version) });
    return { document, changes: differences(now, document) };
  }

  /** Refuses with `conflict` while API keys use it. */
  async remove(reach: Reach, named: string): Promise<void> {
    const { config, version } = await this.versions.find(reach, named, true);
    await this.checkUnused(config);
    this.note(config, { before: ConfigDto.of(config, version) });
    await this.defaults.set(config, false);
    await this.configs.delete({ id: config.id });
    await this.changes.publish({ resource: 'config', id: config.id });
  }

  private async save(
    caller: Principal,
    { config, version }: VersionedConfig,
    document: RoutingConfig | null,
    dto: UpdateConfigDto,
  ): Promise<Config> {
    if (dto.name !== undefined) config.name = dto.name;
    if (dto.status !== undefined) config.status = dto.status;
    config.updatedBy = personOf(caller);
    if (document !== null && differences(version.document, document).length > 0) {
      const { id: configId, organizationId } = config;
      const number = (await this.versions.latestNumber(config)) + 1;
      config.versionId = uuidV7(Date.now());
      await this.versions.add(caller, { id: config.versionId, organizationId, configId, number, document });
    }
    const saved = await this.defaults.set(await this.configs.save(config), wantsDefault(dto));
    if (saved.isDefault && saved.status === 'archived')
      throw new AppError('conflict', {
        detail: 'The default config of a workspace cannot be archived: its requests would all be refused.',
      });
    if (saved.status === 'archived') await this.checkUnused(saved, dto.status === 'archived');
    return saved;
  }

  /** Requests of those keys would all be refused, or run without its rules. The caller holds the config's lock. */
  private async checkUnused(config: Config, isAboutKeys = true): Promise<void> {
    const { apiKeys, userKeysOf } = await this.usage.of(config);
    if (isAboutKeys && apiKeys > 0)
      throw new AppError('conflict', {
        detail: `The config is the default of ${apiKeys} API keys. Give them another one first.`,
      });
    if (userKeysOf !== null)
      throw new AppError('conflict', {
        detail: `User keys of the workspace ${userKeysOf} use this config by default. Give them another one first.`,
      });
  }

  private async changed({ config, version }: VersionedConfig, before?: ConfigDto): Promise<void> {
    this.note(config, { ...(before ? { before } : {}), after: ConfigDto.of(config, version) });
    await this.changes.publish({ resource: 'config', id: config.id });
  }

  private note({ id, workspaceId }: Config, shown: object): void {
    this.audit.note({ targetId: id, workspaceId, ...shown });
  }
}

const LONGEST_BASE = 32;

/** `pc-` distinguishes configs from other resources with a slug; the suffix makes each slug unique. */
const newSlug = (name: string): string =>
  withSuffix(`pc-${slugOfName(name, 'config').slice(0, LONGEST_BASE).replace(/-$/, '')}`);
