import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { LegalHold } from './legal-hold.entity.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { WorkspaceFinder } from '../tenancy/workspace-finder.service.js';
import {
  type CreateLegalHoldDto,
  LegalHoldDto,
  type LegalHoldStatus,
  type ReleaseLegalHoldDto,
} from './legal-hold.dto.js';

/** Maximum number of active holds per organization. All are read whenever its log is. */
const MOST_ACTIVE = 100;

/**
 * Exempts request logs from retention. A caller that may place a hold sees the whole organization. Several holds may cover the same rows;
 * releasing the last one ends the exemption.
 */
@Injectable()
export class LegalHoldsService {
  constructor(
    @InjectRepository(LegalHold) private readonly legalHolds: Repository<LegalHold>,
    private readonly workspaces: WorkspaceFinder,
    private readonly audit: AuditTrail,
  ) {}

  async create(caller: Principal, { reason, workspace_id: named }: CreateLegalHoldDto): Promise<LegalHold> {
    const { organizationId, userId, apiKeyId } = caller;
    // Waits for a workspace that is being deleted, which is then not found.
    const workspace = named === undefined ? null : await this.workspaces.get(caller, named, true);
    if ((await this.legalHolds.countBy({ organizationId, releasedAt: IsNull() })) >= MOST_ACTIVE)
      throw new AppError('conflict', { detail: `An organization has at most ${MOST_ACTIVE} legal holds.` });
    const id = uuidV7(Date.now());
    const workspaceId = workspace?.id ?? null;
    await this.legalHolds.insert({
      id,
      organizationId,
      workspaceId,
      reason,
      placedByKeyId: apiKeyId,
      placedByUserId: userId,
    });
    const saved = await this.find(organizationId, id);
    this.audit.note({ targetId: id, workspaceId, after: LegalHoldDto.from(saved) });
    return saved;
  }

  /** Newest first, including released ones unless a status is given. */
  list(
    organizationId: string,
    status: LegalHoldStatus | undefined,
    { skip, take }: Page,
  ): Promise<[LegalHold[], number]> {
    const released = { active: IsNull(), released: Not(IsNull()) };
    return this.legalHolds.findAndCount({
      where: { organizationId, ...(status === undefined ? {} : { releasedAt: released[status] }) },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
  }

  get(organizationId: string, id: string): Promise<LegalHold> {
    return this.find(organizationId, id);
  }

  /** Expired data is hidden from now on, and removed with the next round of retention. */
  async release(caller: Principal, id: string, { reason }: ReleaseLegalHoldDto): Promise<LegalHold> {
    const row = await this.find(caller.organizationId, id, true);
    if (row.releasedAt !== null)
      throw new AppError('conflict', { detail: 'The legal hold was released already.' });
    const before = LegalHoldDto.from(row);
    Object.assign(row, {
      releasedAt: new Date(),
      releasedByKeyId: caller.apiKeyId,
      releasedByUserId: caller.userId,
      releaseReason: reason,
    });
    const saved = await this.legalHolds.save(row);
    this.audit.note({
      targetId: id,
      workspaceId: row.workspaceId,
      before,
      after: LegalHoldDto.from(saved),
    });
    return saved;
  }

  private async find(organizationId: string, id: string, lock = false): Promise<LegalHold> {
    const row = isUuid(id)
      ? await this.legalHolds.findOne({
          where: { organizationId, id },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    if (!row) throw new AppError('not_found', { resource: 'legal hold' });
    return row;
  }
}
