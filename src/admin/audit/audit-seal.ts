import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../common/settings/secret.js';
import { canonicalRecord, type WrittenRecord } from './canonical-record.js';

/** The end of an organization's chain. */
export interface ChainEnd {
  readonly organizationId: string;
  readonly seq: string;
  readonly hash: Buffer;
}

export const BEFORE_THE_FIRST: Buffer = Buffer.alloc(0);

/** The link between a record and the previous one: SHA-256 over the previous hash and the content of this record. It needs no secret. */
export function chainHash(previous: Buffer, record: WrittenRecord): Buffer {
  return hash('sha256', Buffer.concat([previous, Buffer.from(canonicalRecord(record), 'utf8')]), 'buffer');
}

/**
 * Signs the chain: each record, and separately the end, so that neither can be taken for the other. The key derives from the master key
 * (`auditSealKey`), which the database never sees: write access to every table is not enough to forge a valid chain, even by recomputing
 * all of it, nor to cut off its end.
 */
export class AuditSeal {
  private readonly key: Buffer;

  /** `key` is 32 bytes in base64. */
  constructor(key: Secret) {
    this.key = Buffer.from(key.reveal(), 'base64');
  }

  ofRecord(end: ChainEnd): Buffer {
    return this.sign('record', end);
  }

  ofEnd(end: ChainEnd): Buffer {
    return this.sign('end', end);
  }

  isOfRecord(end: ChainEnd, seal: Buffer | null): boolean {
    return isSame(this.ofRecord(end), seal);
  }

  isOfEnd(end: ChainEnd, seal: Buffer | null): boolean {
    return isSame(this.ofEnd(end), seal);
  }

  /** The parts before the hash contain no slash, so the encoding is unambiguous. */
  private sign(what: 'record' | 'end', end: ChainEnd): Buffer {
    return createHmac('sha256', this.key)
      .update(`${what}/${end.organizationId}/${end.seq}/`)
      .update(end.hash)
      .digest();
  }
}

function isSame(own: Buffer, other: Buffer | null): boolean {
  return other !== null && own.length === other.length && timingSafeEqual(own, other);
}
