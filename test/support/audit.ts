import { AuditSeal, BEFORE_THE_FIRST, chainHash } from '../../src/admin/audit/audit-seal.js';
import { written } from '../../src/admin/audit/canonical-record.js';
import { AuditRecord } from '../../src/admin/audit/audit-record.entity.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import type { AdminApp } from './admin-app.js';

const AT_ONCE = 1000;

/** Writes a chain from its beginning, as if so many changes had been made. */
export async function fillChain(
  { app, dataSource }: AdminApp,
  organizationId: string,
  records: number,
): Promise<void> {
  const seal = app.get(AuditSeal);
  let hash = BEFORE_THE_FIRST;
  for (let seq = 1; seq <= records;) {
    const rows: AuditRecord[] = [];
    for (; rows.length < AT_ONCE && seq <= records; seq++) {
      const record = aRecord(organizationId, String(seq));
      hash = chainHash(hash, written(record));
      rows.push({ ...record, hash, seal: seal.ofRecord({ organizationId, seq: record.seq, hash }) });
    }
    await dataSource.getRepository(AuditRecord).insert(rows as object[]);
  }
  const end = { organizationId, seq: String(records), hash };
  await dataSource.query(
    'INSERT INTO audit_heads (organization_id, seq, hash, seal) VALUES ($1, $2, $3, $4) ON CONFLICT (organization_id) DO UPDATE SET seq = $2, hash = $3, seal = $4',
    [organizationId, end.seq, hash, seal.ofEnd(end)],
  );
}

/** A record of a change, which is not chained. */
export function aRecord(organizationId: string, seq: string) {
  const target = uuidV7(Date.now());
  return {
    id: uuidV7(Date.now()),
    seq,
    organizationId,
    workspaceId: target,
    actorKind: 'admin_key',
    actorId: target,
    actorName: 'First admin key',
    userId: null,
    action: 'virtual_keys.update',
    targetType: 'virtual_keys',
    targetId: target,
    at: new Date(),
    ip: '127.0.0.1',
    method: 'PUT',
    path: `/v1/virtual-keys/key-${seq}`,
    queryParams: null,
    requestHeaders: { 'user-agent': 'test' },
    request: { name: `Key ${seq}`, key: '***' },
    before: { slug: `key-${seq}`, name: 'Before', note: null, status: 'active' },
    after: { slug: `key-${seq}`, name: `Key ${seq}`, note: null, status: 'active' },
    outcome: 'success' as const,
    status: 200,
    errorCode: null,
    requestId: uuidV7(Date.now()),
  };
}
