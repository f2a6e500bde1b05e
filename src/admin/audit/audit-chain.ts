import { Injectable } from '@nestjs/common';
import { isDatabaseAway } from '../../database/database-errors.js';
import type { FinishedWork } from '../../database/commit-hook.js';
import { AuditRecord } from './audit-record.entity.js';
import type { PlainQuery } from '../../database/plain-queries/plain-find.js';
import { plainInsert } from '../../database/plain-queries/plain-insert.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { blockToRemember } from './audit-blocks.js';
import { AuditSeal, type ChainEnd, chainHash } from './audit-seal.js';
import { written } from './canonical-record.js';

export type UnchainedRecord = Omit<AuditRecord, 'seq' | 'hash' | 'seal'>;

type Head = Pick<ChainEnd, 'seq' | 'hash'>;

const LOCK_HEAD = 'SELECT seq, hash FROM audit_heads WHERE organization_id = $1 FOR UPDATE';
const FIRST_HEAD =
  "INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING";
const MOVE_HEAD = 'UPDATE audit_heads SET seq = $2, hash = $3, seal = $4 WHERE organization_id = $1';

/**
 * Adds records to the hash chains of organizations.
 *
 * Lock order of a change: a connection, the rows that it changes, and as the very last thing the head of the chain. A transaction that
 * holds the head waits for nothing but its own statements: it reads the end, sends the record together with COMMIT, and is over. So
 * records are numbered without gaps in the order of their commits, and no writer can wait for another that waits for it.
 */
@Injectable()
export class AuditChain {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly seal: AuditSeal,
  ) {}

  /**
   * Leaves a record to the commit of the running unit of work. When it cannot be written, the unit is rolled back and rejects with
   * `audit_unavailable`.
   */
  append(record: UnchainedRecord): void {
    this.unitOfWork.commitWith((work) => this.commit(work, record));
  }

  private async commit(work: FinishedWork, record: UnchainedRecord): Promise<void> {
    try {
      const head = await lockHead(work, record.organizationId);
      await work.commitAfter(this.statementsBehind(head, record));
    } catch (cause) {
      // The connection may have broken before the commit or after it.
      if (isDatabaseAway(cause)) throw cause;
      throw new AppError('audit_unavailable', {}, { cause });
    }
  }

  private statementsBehind(head: Head, record: UnchainedRecord): PlainQuery[] {
    const { organizationId } = record;
    const seq = String(BigInt(head.seq) + 1n);
    const hash = chainHash(head.hash, written({ ...record, seq }));
    const end = { organizationId, seq, hash };
    return [
      { text: MOVE_HEAD, values: [organizationId, seq, hash, this.seal.ofEnd(end)] },
      this.insertOf({ ...record, seq, hash, seal: this.seal.ofRecord(end) }),
      ...blockToRemember(organizationId, seq),
    ];
  }

  private insertOf(record: AuditRecord): PlainQuery {
    const { dataSource } = this.unitOfWork.manager;
    const insert = plainInsert(dataSource, dataSource.getMetadata(AuditRecord), record);
    if (!insert) throw new Error('An audit record consists of values.');
    return insert;
  }
}

async function lockHead(work: FinishedWork, organizationId: string): Promise<Head> {
  const [known] = await work.query<Head[]>(LOCK_HEAD, [organizationId]);
  if (known) return known;
  await work.query(FIRST_HEAD, [organizationId]);
  const [made] = await work.query<Head[]>(LOCK_HEAD, [organizationId]);
  if (!made) throw new Error('The audit chain has no head.');
  return made;
}
