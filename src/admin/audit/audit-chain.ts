import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { AuditRecord } from '../../common/database/entities/audit-record.entity.js';

export type UnchainedRecord = Omit<AuditRecord, 'seq' | 'hash'>;

interface Head {
  readonly seq: string;
  readonly hash: Buffer;
}

/**
 * Adds a record at the end of its organization's chain. The head stays locked until the transaction ends, so that
 * records of one organization are numbered without gaps, in the order of their commits.
 */
export async function appendToChain(manager: EntityManager, record: UnchainedRecord): Promise<void> {
  const head = await lockHead(manager, record.organizationId);
  const seq = String(BigInt(head.seq) + 1n);
  const hash = hashOf(head.hash, { ...record, seq });
  await manager.insert(AuditRecord, { ...record, seq, hash } as object);
  await manager.query('UPDATE audit_heads SET seq = $2, hash = $3 WHERE organization_id = $1', [
    record.organizationId,
    seq,
    hash,
  ]);
}

async function lockHead(manager: EntityManager, organizationId: string): Promise<Head> {
  await manager.query(
    "INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING",
    [organizationId],
  );
  const [head] = await manager.query<Head[]>(
    'SELECT seq, hash FROM audit_heads WHERE organization_id = $1 FOR UPDATE',
    [organizationId],
  );
  if (!head) throw new Error('The audit chain has no head.');
  return head;
}

/** What a check of a chain found. */
export interface ChainReport {
  readonly records: number;
  /** Number of the first record that is not what was written there, or is missing; null when all is well. */
  readonly brokenAt: string | null;
}

const BATCH = 1000;

/** Reads the whole chain of an organization and computes it anew. */
export async function verifyChain(manager: EntityManager, organizationId: string): Promise<ChainReport> {
  let hash: Buffer = Buffer.alloc(0);
  let seq = 0n;
  for (;;) {
    const batch = await readAfter(manager, organizationId, seq);
    for (const record of batch) {
      const expected = String(seq + 1n);
      if (record.seq !== expected || !hashOf(hash, record).equals(record.hash))
        return { records: Number(seq), brokenAt: expected };
      hash = record.hash;
      seq += 1n;
    }
    if (batch.length < BATCH) break;
  }
  return {
    records: Number(seq),
    brokenAt: (await endsAt(manager, organizationId, seq, hash)) ? null : String(seq + 1n),
  };
}

function readAfter(manager: EntityManager, organizationId: string, seq: bigint): Promise<AuditRecord[]> {
  return manager
    .createQueryBuilder(AuditRecord, 'record')
    .where('record.organizationId = :organizationId AND record.seq > :seq', {
      organizationId,
      seq: String(seq),
    })
    .orderBy('record.seq')
    .limit(BATCH)
    .getMany();
}

/** A cut tail leaves a chain that is right in itself; the head remembers how long it was. */
async function endsAt(
  manager: EntityManager,
  organizationId: string,
  seq: bigint,
  hash: Buffer,
): Promise<boolean> {
  const [head] = await manager.query<Head[]>('SELECT seq, hash FROM audit_heads WHERE organization_id = $1', [
    organizationId,
  ]);
  if (!head) return seq === 0n;
  return BigInt(head.seq) === seq && head.hash.equals(hash);
}

function hashOf(previous: Buffer, record: Omit<AuditRecord, 'hash'>): Buffer {
  return createHash('sha256')
    .update(previous)
    .update(canonical({ ...record, hash: undefined }))
    .digest();
}

/** JSON with the names of every object in order: the database does not keep the order in which they were written. */
function canonical(value: unknown): string {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return JSON.stringify(plain, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
