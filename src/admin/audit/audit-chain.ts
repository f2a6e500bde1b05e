import { Injectable } from '@nestjs/common';
import type { EntityManager, QueryDeepPartialEntity } from 'typeorm';
import { isDatabaseUnavailable, isPoolBusy } from '../../database/sessions/database-errors.js';
import { AuditRecord } from './audit-record.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { createLogger } from '../../common/observability/logger.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditSeal, type ChainEnd, chainHash } from './audit-seal.js';
import { written } from './canonical-record.js';

export type UnchainedRecord = Omit<AuditRecord, 'seq' | 'hash' | 'seal'>;

type AuditChainHead = Pick<ChainEnd, 'seq' | 'hash'>;

const log = createLogger('audit');

const LOCK_HEAD = 'SELECT seq, hash FROM audit_heads WHERE organization_id = $1 FOR UPDATE';
/** The end of a chain without records. Every organization is created with it, so a missing one was removed. */
const FIRST_HEAD =
  "INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING";
const MOVE_HEAD = 'UPDATE audit_heads SET seq = $2, hash = $3, seal = $4 WHERE organization_id = $1';

/**
 * Adds records to the hash chains of organizations.
 *
 * Lock order of a change: a connection, the rows that it changes, and last the head of the chain. A transaction that holds the head waits
 * only for its own statements: it reads the end, adds the record, and commits. So records are numbered without gaps in commit order, and
 * writers cannot deadlock.
 */
@Injectable()
export class AuditChain {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly seal: AuditSeal,
  ) {}

  /**
   * Adds a record right before the commit of the current unit of work. If it cannot be written, the unit is rolled back and rejects with
   * `audit_unavailable`.
   */
  append(record: UnchainedRecord): void {
    this.unitOfWork.beforeCommit((manager) => this.add(manager, record));
  }

  private async add(manager: EntityManager, record: UnchainedRecord): Promise<void> {
    const { organizationId } = record;
    try {
      const head = await lockHead(manager, organizationId);
      const seq = String(BigInt(head.seq) + 1n);
      const hash = chainHash(head.hash, written({ ...record, seq }));
      const end = { organizationId, seq, hash };
      await manager.query(MOVE_HEAD, [organizationId, seq, hash, this.seal.ofEnd(end)]);
      const row = { ...record, seq, hash, seal: this.seal.ofRecord(end) };
      await manager.insert(AuditRecord, row as QueryDeepPartialEntity<AuditRecord>);
    } catch (cause) {
      if (isDatabaseUnavailable(cause) || isPoolBusy(cause)) throw cause;
      throw new AppError('audit_unavailable', {}, { cause });
    }
  }
}

async function lockHead(manager: EntityManager, organizationId: string): Promise<AuditChainHead> {
  const [known] = await manager.query<AuditChainHead[]>(LOCK_HEAD, [organizationId]);
  if (known) return known;
  log.error(
    { organization_id: organizationId },
    'The audit log of an organization has lost its head: its records were removed.',
  );
  await manager.query(FIRST_HEAD, [organizationId]);
  const [made] = await manager.query<AuditChainHead[]>(LOCK_HEAD, [organizationId]);
  if (!made) throw new Error('The audit chain has no head.');
  return made;
}
