import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { IntegrationWorkspace } from './integration-workspace.entity.js';
import { Integration } from './integration.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { type Page, totalFrom } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { DefaultProviders, type GrantedWorkspace } from './default-providers.js';
import { IntegrationFinder } from './integration-finder.service.js';
import type { UpdateAccessDto, WorkspaceAccess } from './integration-workspaces.dto.js';

const FITTING = `
  FROM workspaces workspace
    LEFT JOIN integration_workspaces link ON link.workspace_id = workspace.id AND link.integration_id = $1
  WHERE workspace.organization_id = $4 AND ($5::uuid IS NULL OR workspace.id = $5)
    AND ($3::boolean OR link.workspace_id IS NOT NULL OR workspace.id = $2::uuid)`;

const LISTED = `
  SELECT workspace.id, workspace.name, workspace.slug,
    coalesce(workspace.id = $2::uuid, false) OR coalesce(link.is_enabled, $3::boolean) AS enabled
  ${FITTING} ORDER BY workspace.name, workspace.id LIMIT $6 OFFSET $7`;

const COUNTED = `SELECT count(*)::integer AS total ${FITTING}`;

/** Which workspaces may use an integration of the organization. */
@Injectable()
export class IntegrationAccessService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(IntegrationWorkspace)
    private readonly integrationWorkspaces: Repository<IntegrationWorkspace>,
    @InjectRepository(Integration) private readonly integrations: Repository<Integration>,
    @InjectRepository(Workspace) private readonly workspacesRepository: Repository<Workspace>,
    private readonly finder: IntegrationFinder,
    private readonly workspaces: WorkspaceFinder,
    private readonly providers: DefaultProviders,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** Workspaces with their own setting, or all if it is open to all; by name. */
  async list(caller: Principal, named: string, page: Page): Promise<[WorkspaceAccess[], number]> {
    const integration = await this.finder.find(caller, named, 'read');
    const { organizationId, workspaceId } = reachOf(caller);
    const which = [
      integration.id,
      integration.workspaceId,
      integration.isOpenToAllWorkspaces,
      organizationId,
      workspaceId ?? null,
    ];
    const { manager } = this.unitOfWork;
    const rows: WorkspaceAccess[] = await manager.query(LISTED, [...which, page.take, page.skip]);
    const total = totalFrom(rows.length, page);
    if (total !== null) return [rows, total];
    const [counted]: { total: number }[] = await manager.query(COUNTED, which);
    return [rows, counted?.total ?? 0];
  }

  async update(caller: Principal, named: string, dto: UpdateAccessDto): Promise<void> {
    const integration = await this.finder.find(caller, named, 'update');
    if (integration.workspaceId !== null)
      throw new AppError('invalid_request', {
        detail:
          'This integration belongs to one workspace. Only integrations of the organization can be shared.',
      });
    if (dto.override_existing_workspace_access ?? dto.override_existing_workspaces_access)
      await this.integrationWorkspaces.delete({ integrationId: integration.id });
    await this.setGlobally(integration, dto);
    await this.setSingly(caller, integration, dto);
    this.audit.note({
      action: 'organisation_integrations.update',
      targetId: integration.id,
      workspaceId: null,
      after: {
        workspaces: (dto.workspaces ?? []).map(({ id, enabled }) => ({ id, enabled })),
        global_workspace_access: dto.global_workspace_access ?? null,
      },
    });
    await this.changes.publish({ resource: 'integration', id: integration.id });
  }

  private async setGlobally(integration: Integration, dto: UpdateAccessDto): Promise<void> {
    const enabled = dto.global_workspace_access?.enabled;
    if (enabled === undefined) return;
    await this.integrations.update({ id: integration.id }, { isOpenToAllWorkspaces: enabled });
    if (!enabled || dto.create_default_provider === false) return;
    const granted: GrantedWorkspace[] = await this.unitOfWork.manager.query(
      `SELECT workspace.id, workspace.slug FROM workspaces workspace
       WHERE workspace.organization_id = $1 AND NOT EXISTS (
         SELECT FROM integration_workspaces link
         WHERE link.integration_id = $2 AND link.workspace_id = workspace.id AND NOT link.is_enabled)`,
      [integration.organizationId, integration.id],
    );
    await this.providers.make(integration, granted, dto.default_provider_slug);
  }

  private async setSingly(caller: Principal, integration: Integration, dto: UpdateAccessDto): Promise<void> {
    const granted: GrantedWorkspace[] = [];
    for (const requested of dto.workspaces ?? []) {
      const { organizationId, workspaceId } = await this.workspaces.tenantFor(caller, requested.id);
      const link = {
        integrationId: integration.id,
        organizationId,
        workspaceId,
        isEnabled: requested.enabled,
      };
      await this.integrationWorkspaces.upsert(link, ['integrationId', 'workspaceId']);
      if (!requested.enabled || !(requested.create_default_provider ?? dto.create_default_provider ?? true))
        continue;
      const workspace = await this.workspacesRepository.findOneByOrFail({ id: workspaceId });
      if (requested.default_provider_slug === undefined) granted.push(workspace);
      else await this.providers.make(integration, [workspace], requested.default_provider_slug);
    }
    await this.providers.make(integration, granted, dto.default_provider_slug);
  }
}
