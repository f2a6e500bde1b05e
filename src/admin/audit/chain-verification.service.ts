import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Client } from 'pg';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AuditSeal } from './audit-seal.js';
import { type ChainReport, verifyChain } from './verify-chain.js';

/** Records checked per request: a fraction of a second. */
const RECORDS_AT_ONCE = 20_000;

/** The result for a part, and where the next part begins. */
export interface PartReport extends ChainReport {
  readonly total: number;
  /** Null when the end was checked, or a record is wrong. */
  readonly next: number | null;
}

/** Checks the chain of an organization in parts, so that no request takes long. A chain is valid if each part is. */
@Injectable()
export class ChainVerification {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly seal: AuditSeal,
  ) {}

  /** The records after number `after`, which the previous part has checked. */
  async check(organizationId: string, after: number): Promise<PartReport> {
    const total = await this.lengthOf(organizationId);
    const isLast = total - after <= RECORDS_AT_ONCE;
    const upTo = isLast ? null : after + RECORDS_AT_ONCE;
    const report = await this.verify(organizationId, { after, upTo });
    return { ...report, total, next: report.problem === null ? upTo : null };
  }

  private async lengthOf(organizationId: string): Promise<number> {
    const [head] = await this.unitOfWork.manager.query<{ seq: string }[]>(
      'SELECT seq FROM audit_heads WHERE organization_id = $1',
      [organizationId],
    );
    return Number(head?.seq ?? 0);
  }

  /** Over a connection outside the request's transaction: the check begins its own, and reads with COPY. */
  private async verify(
    organizationId: string,
    part: { readonly after: number; readonly upTo: number | null },
  ): Promise<ChainReport> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client = (await runner.connect()) as Client;
      return await verifyChain({ client, seal: this.seal, organizationId }, part);
    } finally {
      await runner.release();
    }
  }
}
