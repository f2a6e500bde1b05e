import type { EntityManager } from 'typeorm';
import { AuditRecord } from '../../common/database/entities/audit-record.entity.js';
import { rememberBlock } from './audit-blocks.js';
import { type AuditSeal, chainHash } from './audit-seal.js';
import { written } from './canonical-record.js';

export type UnchainedRecord = Omit<AuditRecord, 'seq' | 'hash' | 'seal'>;

interface Head {
  readonly seq: string;
  readonly hash: Buffer;
}

const HEAD = 'SELECT seq, hash FROM audit_heads WHERE organization_id = $1 FOR UPDATE';

/**
 * Adds a record at the end of its organization's chain. The head stays locked until the transaction ends, so that
 * records of one organization are numbered without gaps, in the order of their commits.
 */
export async function appendToChain(
  manager: EntityManager,
  seal: AuditSeal,
  record: UnchainedRecord,
): Promise<void> {
  const { organizationId } = record;
  const head = await lockHead(manager, organizationId);
  const seq = String(BigInt(head.seq) + 1n);
  const end = { organizationId, seq, hash: chainHash(head.hash, written({ ...record, seq })) };
  await store(manager, { ...record, seq, hash: end.hash, seal: seal.ofRecord(end) }, seal.ofEnd(end));
  await rememberBlock(manager, organizationId, seq);
}

/** Record and head in one statement: who waits for the head waits for each of ours. */
async function store(manager: EntityManager, record: AuditRecord, sealOfEnd: Buffer): Promise<void> {
  const { driver } = manager.dataSource;
  const { columns } = manager.dataSource.getMetadata(AuditRecord);
  const values = columns.map(
    (column): unknown => driver.preparePersistentValue(column.getEntityValue(record), column) as unknown,
  );
  const names = columns.map(({ databaseName }) => `"${databaseName}"`).join(', ');
  const places = values.map((_, index) => `$${index + 1}`).join(', ');
  const [organization, seq, hash, sealed] = [1, 2, 3, 4].map((place) => `$${values.length + place}`);
  await manager.query(
    `WITH moved AS (
       UPDATE audit_heads SET seq = ${seq}, hash = ${hash}, seal = ${sealed} WHERE organization_id = ${organization}
     ) INSERT INTO audit_records (${names}) VALUES (${places})`,
    [...values, record.organizationId, record.seq, record.hash, sealOfEnd],
  );
}

async function lockHead(manager: EntityManager, organizationId: string): Promise<Head> {
  const [known] = await manager.query<Head[]>(HEAD, [organizationId]);
  if (known) return known;
  await manager.query(
    "INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING",
    [organizationId],
  );
  const [made] = await manager.query<Head[]>(HEAD, [organizationId]);
  if (!made) throw new Error('The audit chain has no head.');
  return made;
}
