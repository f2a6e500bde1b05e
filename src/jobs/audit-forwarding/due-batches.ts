import type { DataSource } from 'typeorm';
import { BEFORE_THE_FIRST } from '../../admin/audit/audit-seal.js';
import { AuditRecord } from '../../admin/audit/audit-record.entity.js';
import { CLAIMABLE, type ClaimedCursor, DeliveryCursors, LEASED } from '../delivery-cursors.js';
import { type AuditMessage, auditMessage } from './audit-message.js';

/** A destination claimed by this process. */
export interface ClaimedDestination extends ClaimedCursor {
  readonly organizationId: string;
  readonly url: string;
  readonly sealedSecret: Buffer | null;
  readonly caCertificate: string | null;
  readonly wrapped: Buffer;
}

const MOST_RECORDS = 500;
const MOST_CHARACTERS = 1_048_576;

const CLAIM = `
  UPDATE audit_destinations d SET ${LEASED}
  FROM organizations o
  WHERE d.id = $1 AND o.id = d.organization_id AND d.is_enabled AND ${CLAIMABLE}
  RETURNING d.id, d.organization_id AS "organizationId", d.url, d.sealed_secret AS "sealedSecret",
    d.ca_certificate AS "caCertificate", d.delivered_seq AS "deliveredSeq", o.wrapped_key AS wrapped,
    d.leased_until::text AS lease`;

const DUE = `
  SELECT d.id FROM audit_destinations d JOIN audit_heads h ON h.organization_id = d.organization_id
  WHERE d.is_enabled AND d.delivered_seq < h.seq AND d.next_try_at <= now()
    AND (d.leased_until IS NULL OR d.leased_until < now())
  ORDER BY d.next_try_at LIMIT $1`;

const FAILING = `
  SELECT count(*)::int AS count, coalesce(extract(epoch FROM clock_timestamp() - min(failing_since)), 0)::float8 AS seconds
  FROM audit_destinations WHERE is_enabled AND failing_since IS NOT NULL`;

/** Destinations that accept nothing: how many, and for how long the first of them. */
interface FailingDestinations {
  readonly count: number;
  readonly seconds: number;
}

/** Finds destinations that are behind, their next records, and their cursors. */
export class DueBatches {
  private readonly cursors: DeliveryCursors;

  constructor(private readonly database: DataSource) {
    this.cursors = new DeliveryCursors(database, 'audit_destinations');
  }

  async due(most: number): Promise<string[]> {
    const rows: { id: string }[] = await this.database.query(DUE, [most]);
    return rows.map(({ id }) => id);
  }

  async failing(): Promise<FailingDestinations> {
    const [row] = await this.database.query<FailingDestinations[]>(FAILING);
    return row ?? { count: 0, seconds: 0 };
  }

  /** Null when it is not due, or another process has claimed it. */
  async claim(id: string): Promise<ClaimedDestination | null> {
    const [[claimed]]: [ClaimedDestination[], number] = await this.database.query(CLAIM, [id]);
    return claimed ?? null;
  }

  /** The next records in chain order: some hundreds, or about a megabyte, but at least one. */
  async next({ organizationId, deliveredSeq }: ClaimedDestination): Promise<AuditMessage[]> {
    const records = await this.database
      .createQueryBuilder(AuditRecord, 'record')
      .where('record.organizationId = :organizationId AND record.seq >= :deliveredSeq', {
        organizationId,
        deliveredSeq,
      })
      .orderBy('record.seq')
      .limit(MOST_RECORDS + 1)
      .getMany();
    let previous = records[0]?.seq === deliveredSeq ? records.shift()?.hash : undefined;
    const messages: AuditMessage[] = [];
    let length = 0;
    for (const record of records) {
      const message = auditMessage(record, previous ?? BEFORE_THE_FIRST);
      length += message.json.length;
      if (messages.length > 0 && length > MOST_CHARACTERS) break;
      messages.push(message);
      previous = record.hash;
    }
    return messages;
  }

  advance(claimed: ClaimedDestination, seq: string): Promise<void> {
    return this.cursors.advance(claimed, seq);
  }

  fail(claimed: ClaimedDestination, reason: string): Promise<void> {
    return this.cursors.fail(claimed, reason);
  }

  release(claimed: ClaimedDestination): Promise<void> {
    return this.cursors.release(claimed);
  }
}
