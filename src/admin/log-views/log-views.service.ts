import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { type Reach, reachOf } from '../../auth/tenant.js';
import { LogView } from './log-view.entity.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { type CreateLogViewDto, LogViewDto, type UpdateLogViewDto } from './log-view.dto.js';

/** Per owner and workspace. */
const MOST_VIEWS = 100;

/** The owner of views: the user behind the credential, or the service key. Null for a signed token of a workspace. */
export const viewOwner = ({ userId, apiKeyId }: Principal): string | null => userId ?? apiKeyId;

/** Saved views of the request log: the caller's own, and those shared in the workspace. */
@Injectable()
export class LogViewsService {
  constructor(
    @InjectRepository(LogView) private readonly views: Repository<LogView>,
    private readonly workspaces: WorkspaceFinder,
    private readonly audit: AuditTrail,
  ) {}

  async create(caller: Principal, dto: CreateLogViewDto): Promise<LogView> {
    this.audit.identify(caller, 'log_views.create');
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id);
    const ownerId = viewOwner(caller);
    if (ownerId === null)
      throw new AppError('forbidden', { detail: 'a saved view needs a user or an API key as its owner' });
    if ((await this.views.countBy({ ...tenant, ownerId })) >= MOST_VIEWS)
      throw new AppError('conflict', {
        detail: `You have ${MOST_VIEWS} views in this workspace. Delete one first.`,
      });
    const id = uuidV7(Date.now());
    const { name, filter = '', range = '', columns = [], is_shared: isShared = false } = dto;
    await this.views.insert({ id, ...tenant, ownerId, name, filter, range, columns, isShared });
    const view = await this.views.findOneByOrFail({ id });
    this.audit.note({
      targetId: id,
      workspaceId: view.workspaceId,
      after: LogViewDto.from(view, ownerId),
    });
    return view;
  }

  /** By name. */
  list(caller: Principal, reach: Reach, { skip, take }: Page): Promise<[LogView[], number]> {
    const ownerId = viewOwner(caller);
    const seen = [{ ...reach, isShared: true }, ...(ownerId === null ? [] : [{ ...reach, ownerId }])];
    return this.views.findAndCount({ where: seen, order: { name: 'ASC', id: 'ASC' }, skip, take });
  }

  async update(caller: Principal, id: string, dto: UpdateLogViewDto): Promise<LogView> {
    this.audit.identify(caller, 'log_views.update');
    const view = await this.changeable(caller, id);
    const before = LogViewDto.from(view, viewOwner(caller));
    const { is_shared: isShared = view.isShared, name = view.name, ...rest } = dto;
    const { filter = view.filter, range = view.range, columns = view.columns } = rest;
    const saved = await this.views.save(Object.assign(view, { name, filter, range, columns, isShared }));
    this.audit.note({
      targetId: id,
      workspaceId: saved.workspaceId,
      before,
      after: LogViewDto.from(saved, viewOwner(caller)),
    });
    return saved;
  }

  async remove(caller: Principal, id: string): Promise<void> {
    this.audit.identify(caller, 'log_views.delete');
    const view = await this.changeable(caller, id);
    this.audit.note({
      targetId: id,
      workspaceId: view.workspaceId,
      before: LogViewDto.from(view, viewOwner(caller)),
    });
    await this.views.delete({ id: view.id });
  }

  /** Another user's private view is "not found". A shared one can be changed by its owner and by managers of the workspace. */
  private async changeable(caller: Principal, id: string): Promise<LogView> {
    const view = isUuid(id)
      ? await this.views.findOne({
          where: { ...reachOf(caller), id: id.toLowerCase() },
          lock: { mode: 'pessimistic_write' },
        })
      : null;
    const isOwn = view !== null && view.ownerId === viewOwner(caller);
    if (!view || !(isOwn || view.isShared)) throw new AppError('not_found', { resource: 'view' });
    if (!isOwn && !caller.scopes.has('workspaces.update'))
      throw new AppError('forbidden', {
        detail: 'only its owner, or a caller with the scope "workspaces.update", can change a shared view',
      });
    return view;
  }
}
