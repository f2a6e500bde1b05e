import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { reachOf } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import type { GivenDefaults, WorkspaceDefaults } from '../../routing-config/workspace-defaults.js';
import { tenantOf, WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import type { Page } from '../../common/http/page.js';
import { partOfText } from '../../database/part-of-text.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { slugOfName, withSuffix } from '../../common/ids/slug-of-name.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { readRedaction } from '../../request-log/redaction/rules.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { LimitsService } from '../limits/limits.service.js';
import { MembersService } from './members.service.js';
import { WorkspaceDefaultsChecker } from './workspace-defaults-checker.service.js';
import {
  type CreateWorkspaceDto,
  type UpdateWorkspaceDto,
  WorkspaceDto,
  WorkspaceWithUsersDto,
} from './workspace.dto.js';

export interface WorkspaceFilters {
  /** Part of the name, case-insensitive. */
  readonly name?: string | undefined;
  readonly exactName?: string | undefined;
}

/** The members shown with a workspace. */
const SHOWN_MEMBERS: Page = { skip: 0, take: 100 };

/** Workspaces that the caller can access. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(Workspace) private readonly workspaces: Repository<Workspace>,
    private readonly finder: WorkspaceFinder,
    private readonly members: MembersService,
    private readonly limits: LimitsService,
    private readonly defaults: WorkspaceDefaultsChecker,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  /** Newest first. */
  list(
    caller: Principal,
    { name, exactName }: WorkspaceFilters,
    { skip, take }: Page,
  ): Promise<[Workspace[], number]> {
    const { organizationId, workspaceId } = reachOf(caller);
    const own = { organizationId, ...(workspaceId === undefined ? {} : { id: workspaceId }) };
    const named = exactName ?? (name === undefined ? undefined : partOfText(name));
    const where = { ...own, ...(named === undefined ? {} : { name: named }) };
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    return this.workspaces.findAndCount({ where, order, skip, take });
  }

  async create(caller: Principal, dto: CreateWorkspaceDto): Promise<Workspace> {
    const { organizationId } = caller;
    const id = uuidV7(Date.now());
    const defaults = await this.defaults.read({ organizationId, workspaceId: id }, dto.defaults);
    const workspace = await this.insert({
      id,
      organizationId,
      name: dto.name,
      description: dto.description ?? null,
      defaults: merged({}, defaults),
      rateLimits: this.limits.rates(dto.rate_limits ?? null, null),
      usageLimits: this.limits.budgets(dto.usage_limits ?? null, null),
      logRetentionDays: dto.log_retention_days ?? null,
      bodyRetentionDays: dto.body_retention_days ?? null,
      logRedaction: readRedaction(dto.log_redaction ?? null),
    });
    const users = (dto.users ?? []).map((id) => ({ id, role: 'member' as const }));
    if (users.length > 0) await this.members.enter(caller, tenantOf(workspace), users);
    this.audit.note({
      targetId: workspace.id,
      workspaceId: workspace.id,
      after: WorkspaceDto.from(workspace),
    });
    return workspace;
  }

  async update(caller: Principal, named: string, dto: UpdateWorkspaceDto): Promise<void> {
    const workspace = await this.finder.get(caller, named, true);
    await this.noteBefore(workspace);
    const defaults = await this.defaults.read(tenantOf(workspace), dto.defaults);
    if (dto.name !== undefined) workspace.name = dto.name;
    if (dto.description !== undefined) workspace.description = dto.description;
    if (dto.log_retention_days !== undefined) workspace.logRetentionDays = dto.log_retention_days;
    if (dto.body_retention_days !== undefined) workspace.bodyRetentionDays = dto.body_retention_days;
    if (dto.log_redaction !== undefined) workspace.logRedaction = readRedaction(dto.log_redaction);
    if (dto.defaults !== undefined)
      workspace.defaults = dto.defaults === null ? {} : merged(workspace.defaults, defaults);
    const { rate_limits, usage_limits } = dto;
    if (rate_limits !== undefined)
      workspace.rateLimits = this.limits.rates(rate_limits, workspace.rateLimits);
    if (usage_limits !== undefined)
      workspace.usageLimits = this.limits.budgets(usage_limits, workspace.usageLimits);
    const saved = await this.workspaces.save(workspace);
    this.audit.note({ after: WorkspaceDto.from(saved) });
    await this.changes.publish({ resource: 'workspace', id: saved.id });
  }

  /** A workspace with its first members, as in its response. */
  async withMembers(workspace: Workspace): Promise<WorkspaceWithUsersDto> {
    const usage = await this.limits.usageOf([workspace]);
    const members = await this.members.list(tenantOf(workspace), {}, SHOWN_MEMBERS);
    return WorkspaceWithUsersDto.from(workspace, usage, members);
  }

  /** For the record of a change; refuses when the client's condition does not match. */
  async noteBefore(workspace: Workspace): Promise<void> {
    const { id } = workspace;
    const before = WorkspaceDto.from(workspace);
    this.audit.note({ targetId: id, workspaceId: id, before, seen: await this.withMembers(workspace) });
  }

  /** The slug is derived from the name, with a suffix when it is taken, which the unique index determines. */
  private async insert(row: Partial<Workspace> & Pick<Workspace, 'id' | 'name'>): Promise<Workspace> {
    const wanted = `ws-${slugOfName(row.name, 'workspace')}`;
    for (const slug of [wanted, withSuffix(wanted)])
      if ((await this.unitOfWork.insertUnlessTaken(Workspace, { ...row, slug })) > 0)
        return this.workspaces.findOneByOrFail({ id: row.id });
    throw new AppError('conflict', { detail: `No slug could be made for "${row.name}". Try again.` });
  }
}

/** Omitted fields stay unchanged, and null removes a field. */
function merged(before: WorkspaceDefaults, update: GivenDefaults): WorkspaceDefaults {
  const entries = Object.entries(update).filter(([, value]) => value !== undefined);
  const all = Object.entries({ ...before, ...Object.fromEntries(entries) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
