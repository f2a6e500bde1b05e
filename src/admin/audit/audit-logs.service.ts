import { Injectable } from '@nestjs/common';
import { Between, type SelectQueryBuilder } from 'typeorm';
import { type Reach } from '../../auth/tenant.js';
import { AuditRecord } from './audit-record.entity.js';
import type { Page } from '../../common/http/page.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type AuditTime, placeInTime } from './audit-blocks.js';
import type { AuditCondition } from './audit-filters.js';
import { AuditLogDto } from './audit-log.dto.js';

const COUNTED_AT_MOST = 100_000;
const LINES_AT_ONCE = 500;

/** The read side of the audit trail. */
@Injectable()
export class AuditLogsService {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Newest first, with the total. */
  async list(
    reach: Reach,
    conditions: readonly AuditCondition[],
    { skip, take }: Page,
  ): Promise<[records: AuditRecord[], total: number]> {
    if (conditions.length === 0 && reach.workspaceId === undefined)
      return this.listAll(reach.organizationId, { skip, take });
    const time = timeOf(conditions);
    if (time !== null && reach.workspaceId === undefined)
      return this.listTime(reach.organizationId, conditions, { time, skip, take });
    const found = this.matching(reach, conditions);
    const records = await found.clone().orderBy('record.seq', 'DESC').offset(skip).limit(take).getMany();
    return [records, await this.count(found)];
  }

  private async listTime(
    organizationId: string,
    conditions: readonly AuditCondition[],
    { time, skip, take }: Page & { readonly time: AuditTime },
  ): Promise<[records: AuditRecord[], total: number]> {
    const { manager } = this.unitOfWork;
    const { total, above, page } = await placeInTime(manager, organizationId, time, skip);
    if (page === null) return [[], total];
    const records = await this.matching({ organizationId }, conditions)
      .andWhere('record.seq > :above AND record.seq <= :upTo', { above, upTo: page.upTo })
      .orderBy('record.seq', 'DESC')
      .offset(page.skip)
      .limit(take)
      .getMany();
    return [records, total];
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
    const records = await this.unitOfWork.repository(AuditRecord).find({
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

  /** An exact count would read a whole chain for a page number that is never requested. */
  private async count(found: SelectQueryBuilder<AuditRecord>): Promise<number> {
    const [sql, parameters] = found.clone().select('1', 'one').limit(COUNTED_AT_MOST).getQueryAndParameters();
    const [counted] = await this.unitOfWork.manager.query<{ total: number }[]>(
      `SELECT count(*)::int AS total FROM (${sql}) found`,
      parameters,
    );
    return counted?.total ?? 0;
  }
}

/** Null if filters other than time narrow the list. */
function timeOf(conditions: readonly AuditCondition[]): AuditTime | null {
  if (conditions.some(({ bounds }) => bounds === undefined)) return null;
  const boundOf = (which: keyof AuditTime) =>
    conditions.find(({ bounds }) => bounds === which)?.parameter as string | undefined;
  return { start: boundOf('start') ?? null, end: boundOf('end') ?? null };
}
