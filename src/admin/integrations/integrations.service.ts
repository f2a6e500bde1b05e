import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/permissions/require-scope.js';
import { type Reach } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { Integration } from './integration.entity.js';
import { WorkspaceProvider } from './workspace-provider.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { claimSlug } from '../slugs/claim-slug.js';
import { checkNoConfigNames } from '../credentials/naming-configs.js';
import { SecretMappingsService } from '../secret-references/secret-mappings.service.js';
import { CredentialsService } from '../credentials/credentials.service.js';
import { IntegrationFinder, integrationScope } from './integration-finder.service.js';
import { readConfigurations } from './integration-configurations.js';
import {
  type CreateIntegrationDto,
  IntegrationDetailDto,
  type IntegrationLevel,
  type UpdateIntegrationDto,
} from './integration.dto.js';

@Injectable()
export class IntegrationsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Integration) private readonly integrations: Repository<Integration>,
    @InjectRepository(WorkspaceProvider) private readonly workspaceProviders: Repository<WorkspaceProvider>,
    private readonly finder: IntegrationFinder,
    private readonly credentials: CredentialsService,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
    private readonly mappings: SecretMappingsService,
  ) {}

  /** Without a workspace it belongs to the organization. */
  async create(
    caller: Principal,
    workspaceId: string | null,
    dto: CreateIntegrationDto,
  ): Promise<Integration> {
    requireScope(caller, integrationScope(workspaceId, 'create'));
    const configurations = readConfigurations(dto.ai_provider_id, dto.configurations ?? {});
    const secret = theOne(dto.key, configurations.key);
    const { organizationId } = caller;
    const { secretMappings, mapped } = await this.mappings.read(
      caller,
      { organizationId, workspaceId },
      { ...configurations, key: secret, mappings: dto.secret_mappings ?? null },
    );
    const destination = this.credentials.read({ ...configurations, mapped }, secret);
    this.credentials.checkIdentity(organizationId, destination);
    const { provider, customHost, fields } = destination;
    const place = {
      id: uuidV7(Date.now()),
      organizationId,
      workspaceId,
      providerId: provider.id,
      customHost,
    };
    const row = {
      ...place,
      name: dto.name,
      description: dto.description ?? null,
      fields,
      sealedCredentials: await this.credentials.seal(place, secret),
      secretMappings,
      lastFour: lastFourOf(secret),
    };
    await claimSlug(
      { chosen: dto.slug, name: dto.name, otherwise: 'integration' },
      async (slug) => (await this.unitOfWork.insertUnlessTaken(Integration, { ...row, slug })) > 0,
    );
    const integration = await this.integrations.findOneByOrFail({ id: place.id });
    this.note(integration, 'create', { after: IntegrationDetailDto.from(integration) });
    return integration;
  }

  /** Newest first; those of the organization and of workspaces, as far as the caller may list them. */
  list(
    caller: Principal,
    reach: Reach,
    level: IntegrationLevel,
    { skip, take }: Page,
  ): Promise<[Integration[], number]> {
    const query = this.finder.visible(reach);
    if (level === 'organisation' || !caller.scopes.has('workspace_integrations.list'))
      query.andWhere('integration.workspace_id IS NULL');
    if (level === 'workspace' || !caller.scopes.has('organisation_integrations.list'))
      query.andWhere('integration.workspace_id IS NOT NULL');
    return query
      .orderBy('integration.createdAt', 'DESC')
      .addOrderBy('integration.id', 'DESC')
      .skip(skip)
      .take(take)
      .getManyAndCount();
  }

  get(caller: Principal, named: string): Promise<Integration> {
    return this.finder.find(caller, named, 'read');
  }

  async update(caller: Principal, named: string, dto: UpdateIntegrationDto): Promise<void> {
    const integration = await this.finder.find(caller, named, 'update');
    const before = IntegrationDetailDto.from(integration);
    if (dto.name !== undefined) integration.name = dto.name;
    if (dto.description !== undefined) integration.description = dto.description;
    if ([dto.key, dto.configurations, dto.secret_mappings].some((value) => value !== undefined))
      await this.changeDestination(caller, integration, dto);
    const saved = await this.integrations.save(integration);
    this.note(saved, 'update', { before, after: IntegrationDetailDto.from(saved) });
    await this.announce(saved);
  }

  /** Also removes its providers, which are useless without its credential. */
  async remove(caller: Principal, named: string): Promise<void> {
    const integration = await this.finder.find(caller, named, 'delete');
    for (const provider of await this.workspaceProviders.findBy({ integrationId: integration.id }))
      await checkNoConfigNames(this.unitOfWork.manager, provider, 'provider');
    this.note(integration, 'delete', { before: IntegrationDetailDto.from(integration) });
    await this.workspaceProviders.delete({ integrationId: integration.id });
    await this.integrations.delete({ id: integration.id });
    await this.announce(integration);
  }

  private async changeDestination(
    caller: Principal,
    integration: Integration,
    dto: UpdateIntegrationDto,
  ): Promise<void> {
    const configurations =
      dto.configurations && readConfigurations(integration.providerId, dto.configurations);
    const key = theOne(dto.key, configurations?.key);
    const mapped = await this.mappings.read(caller, integration, {
      provider: configurations?.provider ?? integration.providerId,
      customHost: configurations ? configurations.customHost : integration.customHost,
      key,
      mappings: dto.secret_mappings,
    });
    const destination = this.credentials.change(integration, { ...configurations, ...mapped, key });
    this.credentials.checkIdentity(integration.organizationId, destination);
    const { provider, customHost, fields, isResealed } = destination;
    const { secretMappings } = mapped;
    Object.assign(integration, { providerId: provider.id, customHost, fields, secretMappings });
    if (!isResealed) return;
    integration.sealedCredentials = await this.credentials.seal(integration, key);
    integration.lastFour = lastFourOf(key);
  }

  private note(integration: Integration, verb: 'create' | 'update' | 'delete', shown: object): void {
    const { id, workspaceId } = integration;
    this.audit.note({ action: integrationScope(workspaceId, verb), targetId: id, workspaceId, ...shown });
  }

  private announce({ id }: Integration): Promise<void> {
    return this.changes.publish({ resource: 'integration', id });
  }
}

/** The secret is in `key`, or in the compatible API's configuration for it. */
function theOne(key: string | undefined, configured: string | undefined): string | undefined {
  if (key !== undefined && configured !== undefined)
    throw new AppError('invalid_request', {
      detail: 'The secret was sent twice, in "key" and in "configurations". Send it once.',
    });
  return key ?? configured;
}

/** Four characters of a shorter secret would reveal too much. */
const SHORTEST_SHOWN = 12;

const lastFourOf = (secret: string | undefined): string | null =>
  secret !== undefined && secret.length >= SHORTEST_SHOWN ? secret.slice(-4) : null;
