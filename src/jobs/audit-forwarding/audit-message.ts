import { canonicalRecord, written } from '../../admin/audit/canonical-record.js';
import type { AuditRecord } from '../../admin/audit/audit-record.entity.js';

/** One record in the format sent to receivers. */
export interface AuditMessage {
  readonly record: AuditRecord;
  /** One line of JSON. */
  readonly json: string;
}

/**
 * A record as sent to receivers: `{"hash","previous_hash","record"}`. `record` has exactly the bytes that the chain hashes, so a line can
 * be verified with nothing but SHA-256: `hash` is that of the bytes of `previous_hash` (none before the first record) followed by the text
 * of `record`.
 */
export function auditMessage(record: AuditRecord, previousHash: Buffer): AuditMessage {
  const { hash } = record;
  const said = canonicalRecord(written(record));
  const json = `{"hash":"${hash.toString('hex')}","previous_hash":"${previousHash.toString('hex')}","record":${said}}`;
  return { record, json };
}
