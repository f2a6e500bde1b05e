import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Between, type SelectQueryBuilder, type Repository } from 'typeorm';
import { type Reach } from '../../auth/tenant.js';
import { AuditRecord } from '../audit/audit-record.entity.js';
import type { Page } from '../../common/http/page.js';
import { pageOfLongList } from '../../database/long-list.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { AuditCondition } from './audit-filters.js';
import { AuditLogDto } from './audit-log.dto.js';

const LINES_AT_ONCE = 500;

/** The read side of the audit trail. */
@Injectable()
export class AuditLogsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    @InjectRepository(AuditRecord) private readonly auditRecords: Repository<AuditRecord>,
  ) {}

  /** Newest first, with the total; for a filtered list, up to `COUNT_MAX`. */
  async list(
    reach: Reach,
    conditions: readonly AuditCondition[],
    { skip, take }: Page,
  ): Promise<[records: AuditRecord[], total: number]> {
    if (conditions.length === 0 && reach.workspaceId === undefined)
      return this.listAll(reach.organizationId, { skip, take });
    return pageOfLongList(this.unitOfWork.manager, this.matching(reach, conditions), 'seq', { skip, take });
  }

  /** Records are numbered without gaps, so any page of the whole list is a range of numbers, and the last one is the total. */
  private async listAll(
    organizationId: string,
    { skip, take }: Page,
  ): Promise<[records: AuditRecord[], total: number]> {
    const [head] = await this.unitOfWork.manager.query<{ seq: string }[]>(
      'SELECT seq FROM audit_heads WHERE organization_id = $1',
      [organizationId],
    );
    const total = Number(head?.seq ?? 0);
    const newest = total - skip;
    const records = await this.auditRecords.find({
      where: { organizationId, seq: Between(String(newest - take + 1), String(newest)) },
      order: { seq: 'DESC' },
    });
    return [records, total];
  }

  /** All of them as JSON Lines, oldest first. Each part is read in a separate transaction: a slow client holds no connection. */
  async *lines(reach: Reach, conditions: readonly AuditCondition[]): AsyncGenerator<string> {
    const tenancy = { organizationId: reach.organizationId, isReading: true };
    for (let seq = '0'; ;) {
      const records = await this.unitOfWork.runFor(tenancy, () =>
        this.matching(reach, conditions)
          .andWhere('record.seq > :seq', { seq })
          .orderBy('record.seq')
          .limit(LINES_AT_ONCE)
          .getMany(),
      );
      if (records.length > 0)
        yield records.map((record) => `${JSON.stringify(AuditLogDto.from(record))}\n`).join('');
      const last = records.at(-1);
      if (!last || records.length < LINES_AT_ONCE) return;
      seq = last.seq;
    }
  }

  private matching(
    { organizationId, workspaceId }: Reach,
    conditions: readonly AuditCondition[],
  ): SelectQueryBuilder<AuditRecord> {
    const query = this.unitOfWork.manager
      .createQueryBuilder(AuditRecord, 'record')
      .where('record.organizationId = :organizationId', { organizationId });
    if (workspaceId !== undefined) query.andWhere('record.workspaceId = :workspaceId', { workspaceId });
    conditions.forEach(({ sql, parameter }, index) => {
      query.andWhere(`(${sql(`:filter${index}`)})`, { [`filter${index}`]: parameter });
    });
    return query;
  }
}
