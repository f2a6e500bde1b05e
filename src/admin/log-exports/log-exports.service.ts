import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { visibilityOf } from '../../auth/permissions/visibility.js';
import { type Reach, reachOf, type Tenant } from '../../auth/tenant.js';
import { LogExport } from './log-export.entity.js';
import { conditionsIn, type FilterDocument, newestOf } from '../../request-log/reading/filter-document.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { LogsService } from '../logs/logs.service.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import { ExportRestrictions } from './export-restrictions.service.js';
import { type CreateLogExportDto, LogExportDto, type UpdateLogExportDto } from './log-export.dto.js';
import { fieldError } from '../../common/errors/field-errors.js';

/** Maximum number of exports of one workspace written at the same time. */
const MOST_RUNNING = 5;
/** Maximum number of exports of one workspace whose files are kept. */
const MOST_KEPT = 500;

/** Exports that the caller can access; a caller limited to its own traffic sees its own exports. */
export interface ExportReach extends Reach {
  readonly userId?: string;
}

export const reachOfExports = ({ seesOnlyOf }: Pick<Principal, 'seesOnlyOf'>, reach: Reach): ExportReach => ({
  ...reach,
  ...(seesOnlyOf === undefined ? {} : { userId: seesOnlyOf }),
});

/** An export and how many requests it would have now; null when counting takes too long. */
export type CountedExport = readonly [LogExport, total: number | null];

/**
 * Manages exports of the request log. The background process sweeps for started exports and writes their files. So the administration needs
 * no queue, and no start is lost with one.
 */
@Injectable()
export class LogExportsService {
  constructor(
    @InjectRepository(LogExport) private readonly logExports: Repository<LogExport>,
    private readonly workspaces: WorkspaceFinder,
    private readonly logs: LogsService,
    private readonly restrictions: ExportRestrictions,
    private readonly audit: AuditTrail,
  ) {}

  async create(caller: Principal, dto: CreateLogExportDto): Promise<CountedExport> {
    const { workspace_slug, ...filters } = dto.filters;
    const tenant = await this.workspaces.tenantFor(caller, dto.workspace_id ?? textOf(workspace_slug));
    await this.checkSlug(caller, tenant, workspace_slug);
    await this.restrictions.check(caller.organizationId, dto.requested_data);
    if ((await this.logExports.countBy(tenant)) >= MOST_KEPT)
      throw new AppError('conflict', {
        detail: `This workspace has ${MOST_KEPT} exports, which is the limit. Try again when older ones have expired.`,
      });
    const row = this.logExports.create({
      id: uuidV7(Date.now()),
      ...tenant,
      ...actorOf(caller),
      description: dto.description ?? 'Log export',
      filters,
      requestedData: [...dto.requested_data],
      ...packingOf(dto, { format: 'jsonl', compression: 'none' }),
      status: 'draft',
    });
    const total = await this.count(caller, tenant, filters);
    await this.logExports.save(row);
    const saved = await this.logExports.findOneByOrFail({ id: row.id });
    this.note(saved, undefined, LogExportDto.from(saved));
    return [saved, total];
  }

  /** Newest first. */
  list(reach: ExportReach, { skip, take }: Page): Promise<[LogExport[], number]> {
    return this.logExports.findAndCount({
      where: { ...reach },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
  }

  get(reach: ExportReach, id: string): Promise<LogExport> {
    return this.find(reach, id);
  }

  /** Only a draft: a started export cannot be changed. */
  async update(caller: Principal, id: string, dto: UpdateLogExportDto): Promise<CountedExport> {
    const row = await this.find(reachOfExports(caller, reachOf(caller)), id, true);
    const before = LogExportDto.from(row);
    if (row.status !== 'draft') throw new AppError('conflict', { detail: 'Only a draft can be changed.' });
    const { workspace_slug, ...filters } = dto.filters ?? row.filters;
    for (const named of [dto.workspace_id, workspace_slug]) await this.checkSlug(caller, row, named);
    await this.restrictions.check(caller.organizationId, dto.requested_data ?? row.requestedData);
    const total = await this.count(caller, row, filters);
    Object.assign(row, actorOf(caller), packingOf(dto, row), {
      filters,
      description: dto.description ?? row.description,
      requestedData: dto.requested_data ?? row.requestedData,
    });
    const saved = await this.logExports.save(row);
    this.note(saved, before, LogExportDto.from(saved));
    return [saved, total];
  }

  /** Starts it, or resumes one that failed or was stopped. It contains the requests that had arrived by the first start. */
  async start(caller: Principal, id: string): Promise<void> {
    const row = await this.find(reachOfExports(caller, reachOf(caller)), id, true);
    const before = LogExportDto.from(row);
    if (row.status === 'in_progress' || row.status === 'success')
      throw new AppError('conflict', {
        detail: `An export with the status "${row.status}" cannot be started. Create another one.`,
      });
    await this.checkRunning(caller, row);
    await this.restrictions.check(caller.organizationId, row.requestedData);
    const now = new Date();
    const newest = newestOf(row.filters);
    Object.assign(row, actorOf(caller), {
      status: 'in_progress',
      problem: null,
      tries: 0,
      untilAt: row.untilAt ?? (newest && newest < now ? newest : now),
    });
    const saved = await this.logExports.save(row);
    this.note(saved, before, LogExportDto.from(saved));
  }

  async cancel(caller: Principal, id: string): Promise<void> {
    const row = await this.find(reachOfExports(caller, reachOf(caller)), id, true);
    const before = LogExportDto.from(row);
    if (row.status !== 'in_progress' && row.status !== 'draft')
      throw new AppError('conflict', { detail: `An export that is "${row.status}" cannot be stopped.` });
    row.status = 'stopped';
    const saved = await this.logExports.save(row);
    this.note(saved, before, LogExportDto.from(saved));
  }

  /** An export whose file exists. */
  async finished(reach: ExportReach, id: string): Promise<LogExport> {
    const row = await this.find(reach, id);
    if (row.status !== 'success')
      throw new AppError('conflict', { detail: `The export is "${row.status}", so it has no file.` });
    if (row.fileRemovedAt !== null || (row.expiresAt !== null && row.expiresAt <= new Date()))
      throw new AppError('not_found', { resource: 'file of a log export' });
    return row;
  }

  /** Adds the request for a link to the audit record. */
  noteLink(row: LogExport): void {
    this.note(row, undefined, LogExportDto.from(row));
  }

  /** Exports of a workspace are started one after the other, so that two requests cannot start a sixth. */
  private async checkRunning(caller: Principal, { organizationId, workspaceId }: LogExport): Promise<void> {
    await this.workspaces.get(caller, workspaceId, true);
    const status = 'in_progress';
    const running = await this.logExports.countBy({ organizationId, workspaceId, status });
    if (running >= MOST_RUNNING)
      throw new AppError('conflict', {
        detail: `${MOST_RUNNING} exports of this workspace are running, which is the limit. Try again when one has finished.`,
      });
  }

  /** The filters may repeat the workspace. */
  private async checkSlug(caller: Principal, { workspaceId }: Tenant, named: unknown): Promise<void> {
    if (named === undefined) return;
    const { id } = await this.workspaces.get(caller, textOf(named) ?? '');
    if (id !== workspaceId)
      throw new AppError('invalid_request', {
        detail: 'The filters name a different workspace than the export.',
      });
  }

  /** Also refuses meaningless filters. */
  private count(
    caller: Principal,
    { organizationId, workspaceId }: Tenant,
    filters: FilterDocument,
  ): Promise<number | null> {
    const conditions = [...visibilityOf(caller), ...conditionsIn(filters)];
    return this.logs.countInTime({ organizationId, workspaceId }, conditions);
  }

  private async find(reach: ExportReach, id: string, lock = false): Promise<LogExport> {
    const row = isUuid(id)
      ? await this.logExports.findOne({
          where: { ...reach, id },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    if (!row) throw new AppError('not_found', { resource: 'log export' });
    return row;
  }

  private note({ id, workspaceId }: LogExport, before?: LogExportDto, after?: LogExportDto): void {
    this.audit.note({
      targetId: id,
      workspaceId,
      ...(before ? { before } : {}),
      ...(after ? { after } : {}),
    });
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** An export is written after its request, so it needs a key or user whose rights can still be checked. */
function actorOf({ apiKeyId, userId }: Principal): Pick<LogExport, 'apiKeyId' | 'userId'> {
  if (apiKeyId === null && userId === null)
    throw new AppError('forbidden', {
      detail: 'an export outlives a token that names no user; use an API key',
    });
  return { apiKeyId, userId };
}

type ExportPacking = Pick<LogExport, 'format' | 'compression'>;

function packingOf(
  update: Pick<UpdateLogExportDto, keyof ExportPacking>,
  usual: ExportPacking,
): ExportPacking {
  const format = update.format ?? usual.format;
  const compression = update.compression ?? usual.compression;
  if (format === 'parquet' && compression !== 'none')
    throw fieldError('compression', 'must be "none" for Parquet, which is compressed inside');
  return { format, compression };
}
