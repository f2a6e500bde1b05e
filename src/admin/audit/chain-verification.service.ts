import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Client } from 'pg';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { AuditSeal } from './audit-seal.js';
import { ChainAnchors, checkedAgainst } from './chain-anchors.js';
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
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'dataDir'>,
  ) {}

  /** The records after number `after`, which the previous part has checked. */
  async check(organizationId: string, after: number): Promise<PartReport> {
    const total = await this.lengthOf(organizationId);
    const isLast = total - after <= RECORDS_AT_ONCE;
    const upTo = isLast ? null : after + RECORDS_AT_ONCE;
    const part = await this.verify(organizationId, { after, upTo });
    const report = isLast ? await this.anchored(organizationId, part) : part;
    return { ...report, total, next: report.problem === null ? upTo : null };
  }

  /** Where this machine keeps anchors, the chain must have the record of its anchor. */
  private async anchored(organizationId: string, report: ChainReport): Promise<ChainReport> {
    const anchors = await new ChainAnchors(this.settings.dataDir).read();
    const { manager } = this.unitOfWork;
    return checkedAgainst(
      (sql, parameters) => manager.query(sql, [...parameters]),
      anchors.get(organizationId),
      report,
    );
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
