import { canonicalRecord, written } from '../../admin/audit/canonical-record.js';
import type { AuditRecord } from '../../admin/audit/audit-record.entity.js';

/** One record on its way to a receiver. */
export interface AuditMessage {
  readonly record: AuditRecord;
  /** One line of JSON. */
  readonly json: string;
}

/**
 * A record as receivers get it: `{"hash","previous_hash","record"}`. `record` stands there in the very bytes that the
 * chain is made over, so whoever has a line can check it with nothing but SHA-256: the hash is that of the bytes of
 * `previous_hash` (none before the first record) and the text of `record`.
 */
export function auditMessage(record: AuditRecord, previousHash: Buffer): AuditMessage {
  const { hash } = record;
  const said = canonicalRecord(written(record));
  const json = `{"hash":"${hash.toString('hex')}","previous_hash":"${previousHash.toString('hex')}","record":${said}}`;
  return { record, json };
}
