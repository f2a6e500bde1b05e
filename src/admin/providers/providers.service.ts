import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, type Repository } from 'typeorm';
import type { Reach, Tenant } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { WorkspaceProvider } from '../integrations/workspace-provider.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { claimSlug } from '../slugs/claim-slug.js';
import { checkNoConfigNames } from '../credentials/naming-configs.js';
import { IntegrationFinder } from '../integrations/integration-finder.service.js';
import { type CreateProviderDto, ProviderDto, type UpdateProviderDto } from './provider.dto.js';

/** Integrations in workspaces. */
@Injectable()
export class ProvidersService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(WorkspaceProvider) private readonly workspaceProviders: Repository<WorkspaceProvider>,
    private readonly integrations: IntegrationFinder,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  async create(tenant: Tenant, dto: CreateProviderDto): Promise<WorkspaceProvider> {
    const { id: integrationId } = await this.integrations.usableBy(tenant, dto.integration_id);
    const row = {
      ...tenant,
      id: uuidV7(Date.now()),
      integrationId,
      name: dto.name,
      note: dto.note ?? null,
      expiresAt: momentOf(dto.expires_at ?? null),
    };
    const slug = await claimSlug(
      { chosen: dto.slug, name: dto.name, otherwise: 'provider' },
      async (free) =>
        (await this.unitOfWork.insertUnlessTaken(WorkspaceProvider, { ...row, slug: free })) > 0,
    );
    const provider = await this.find(tenant, slug);
    this.noteChange(provider, { after: ProviderDto.from(provider) });
    await this.announce(provider);
    return provider;
  }

  /** Newest first. */
  list(reach: Reach, { skip, take }: Page): Promise<[WorkspaceProvider[], number]> {
    return this.workspaceProviders.findAndCount({
      where: { ...reach, integrationId: Not(IsNull()) },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
  }

  get(reach: Reach, slug: string): Promise<WorkspaceProvider> {
    return this.find(reach, slug);
  }

  async update(reach: Reach, slug: string, dto: UpdateProviderDto): Promise<WorkspaceProvider> {
    const provider = await this.find(reach, slug, true);
    const before = ProviderDto.from(provider);
    if (dto.name !== undefined) provider.name = dto.name;
    if (dto.note !== undefined) provider.note = dto.note;
    if (dto.expires_at !== undefined) provider.expiresAt = momentOf(dto.expires_at);
    const saved = await this.workspaceProviders.save(provider);
    this.noteChange(saved, { before, after: ProviderDto.from(saved) });
    await this.announce(saved);
    return saved;
  }

  async remove(reach: Reach, slug: string): Promise<void> {
    const provider = await this.find(reach, slug, true);
    await checkNoConfigNames(this.unitOfWork.manager, provider, 'provider');
    this.noteChange(provider, { before: ProviderDto.from(provider) });
    await this.workspaceProviders.delete({ id: provider.id });
    await this.announce(provider);
  }

  private async find(reach: Reach, slug: string, lock = false): Promise<WorkspaceProvider> {
    const { organizationId, workspaceId } = reach;
    const provider = isSlug(slug)
      ? await this.workspaceProviders.findOne({
          where: {
            organizationId,
            ...(workspaceId === undefined ? {} : { workspaceId }),
            slug,
            integrationId: Not(IsNull()),
          },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    if (!provider) throw new AppError('not_found', { resource: 'provider' });
    return provider;
  }

  private noteChange({ id, workspaceId }: WorkspaceProvider, shown: object): void {
    this.audit.note({ targetId: id, workspaceId, ...shown });
  }

  /** For requests a provider is a virtual key. */
  private announce({ id }: WorkspaceProvider): Promise<void> {
    return this.changes.publish({ resource: 'virtual_key', id });
  }
}

const momentOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
