import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityTarget, IsNull, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import type { Tenant } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { Config } from '../configs/config.entity.js';
import { Guardrail } from '../guardrails/guardrail.entity.js';
import { Integration } from '../integrations/integration.entity.js';
import { LegalHold } from '../legal-holds/legal-hold.entity.js';
import { RemovedWorkspaceRetention } from './removed-workspace-retention.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { WorkspaceMember } from '../tenancy/workspace-member.entity.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { KeyRevocationService } from '../api-keys/key-revocation.service.js';
import { withCount, listInWords } from '../dto-fields/counted.js';
import { WorkspacesService } from './workspaces.service.js';

interface WorkspaceContent {
  readonly name: string;
  readonly entity: EntityTarget<Tenant>;
}

/** Content that must be removed before the workspace, so that it is not lost by mistake. */
const MUST_BE_EMPTY: readonly WorkspaceContent[] = [
  { name: 'virtual key', entity: VirtualKey },
  { name: 'integration', entity: Integration },
  { name: 'config', entity: Config },
  { name: 'guardrail', entity: Guardrail },
];

/** Content that is deleted with a workspace. */
const KEYS: WorkspaceContent = { name: 'API key', entity: ApiKey };
const MEMBERS: WorkspaceContent = { name: 'member', entity: WorkspaceMember };

/** Deletes a workspace permanently. The rows of its request log stay for its retention. */
@Injectable()
export class WorkspaceRemovalService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Workspace) private readonly workspacesRepository: Repository<Workspace>,
    @InjectRepository(LegalHold) private readonly legalHolds: Repository<LegalHold>,
    @InjectRepository(RemovedWorkspaceRetention)
    private readonly removedWorkspaces: Repository<RemovedWorkspaceRetention>,
    private readonly finder: WorkspaceFinder,
    private readonly workspaces: WorkspacesService,
    private readonly revocation: KeyRevocationService,
    private readonly changes: ChangePublisher,
  ) {}

  /** `confirmation` must be the name; without it the error lists what would be deleted. */
  async remove(caller: Principal, named: string, confirmation: string | undefined): Promise<void> {
    // Concurrent additions to this workspace wait for the lock, and then find no workspace.
    const workspace = await this.finder.get(caller, named, true);
    if (workspace.isDefault)
      throw new AppError('conflict', { detail: 'The default workspace cannot be deleted.' });
    const tenant = { organizationId: workspace.organizationId, workspaceId: workspace.id };
    await this.checkHolds(tenant);
    const left = (await this.count(MUST_BE_EMPTY, tenant)).filter(({ count }) => count > 0);
    if (confirmation !== workspace.name)
      throw new AppError('confirmation_required', {
        detail: [
          `Deleting the workspace "${workspace.name}" revokes ${listed(await this.count([KEYS], tenant))} ` +
            `and removes ${listed(await this.count([MEMBERS], tenant))}.`,
          ...(left.length > 0 ? [`First delete its ${listed(left)}.`] : []),
          `To confirm, repeat the request with ${JSON.stringify({ name: workspace.name })} or "?name=".`,
        ].join(' '),
      });
    if (left.length > 0)
      throw new AppError('conflict', {
        detail: `The workspace still holds ${listed(left)}. Delete them first.`,
      });
    await this.delete(workspace, tenant);
  }

  private async delete(workspace: Workspace, tenant: Tenant): Promise<void> {
    await this.workspaces.noteBefore(workspace);
    await this.revocation.revoke(tenant);
    await this.revocation.release(tenant, { workspaceId: null });
    await this.keepPromise(workspace);
    await this.workspacesRepository.delete({ id: workspace.id });
    await this.changes.publish({ resource: 'workspace', id: workspace.id });
  }

  /** Feedback on requests is deleted with a workspace, and a hold protects it, too. */
  private async checkHolds({ organizationId, workspaceId }: Tenant): Promise<void> {
    const releasedAt = IsNull();
    const held = await this.legalHolds.existsBy([
      { organizationId, workspaceId, releasedAt },
      { organizationId, workspaceId: IsNull(), releasedAt },
    ]);
    if (held)
      throw new AppError('conflict', {
        detail: 'The workspace is under a legal hold. It can be deleted when that is released.',
      });
  }

  private async keepPromise(workspace: Workspace): Promise<void> {
    const { organizationId, id: workspaceId, logRetentionDays, bodyRetentionDays, logRedaction } = workspace;
    if (logRetentionDays === null && bodyRetentionDays === null && logRedaction === null) return;
    await this.removedWorkspaces.insert({
      organizationId,
      workspaceId,
      logRetentionDays,
      bodyRetentionDays,
      logRedaction,
    });
  }

  private async count(
    contents: readonly WorkspaceContent[],
    tenant: Tenant,
  ): Promise<readonly ContentCount[]> {
    const counts: ContentCount[] = [];
    for (const { name, entity } of contents)
      counts.push({ name, count: await this.unitOfWork.repository(entity).countBy({ ...tenant }) });
    return counts;
  }
}

interface ContentCount {
  readonly name: string;
  readonly count: number;
}

const listed = (things: readonly ContentCount[]): string =>
  listInWords(things.map(({ name, count }) => withCount(count, name)));
