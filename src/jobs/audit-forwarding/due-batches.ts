import type { DataSource } from 'typeorm';
import { BEFORE_THE_FIRST } from '../../admin/audit/audit-seal.js';
import { AuditRecord } from '../../common/database/entities/audit-record.entity.js';
import { type AuditMessage, auditMessage } from './audit-message.js';

/** A destination that this process has in hand. */
export interface ClaimedDestination {
  readonly id: string;
  readonly organizationId: string;
  readonly url: string;
  readonly sealedSecret: Buffer | null;
  readonly caCertificate: string | null;
  readonly deliveredSeq: string;
  readonly wrapped: Buffer;
  /** Names this claim: a later one is another. */
  readonly lease: string;
}

/** Longer than a try can take. A process that dies holding a destination gives it back so much later. */
const LEASE = '60 seconds';
const MOST_RECORDS = 500;
const MOST_CHARACTERS = 1_048_576;
const LONGEST_PAUSE_S = 300;

const CLAIM = `
  UPDATE audit_destinations d SET leased_until = clock_timestamp() + interval '${LEASE}'
  FROM organizations o
  WHERE d.id = $1 AND o.id = d.organization_id AND d.is_enabled
    AND d.next_try_at <= clock_timestamp() AND (d.leased_until IS NULL OR d.leased_until < clock_timestamp())
  RETURNING d.id, d.organization_id AS "organizationId", d.url, d.sealed_secret AS "sealedSecret",
    d.ca_certificate AS "caCertificate", d.delivered_seq AS "deliveredSeq", o.wrapped_key AS wrapped,
    d.leased_until::text AS lease`;

/** The cursor moves from where it was read, and forwards only: a process that was thought dead cannot take it back. */
const DELIVERED = `
  UPDATE audit_destinations SET delivered_seq = $3, delivered_at = clock_timestamp(), failures = 0, last_error = NULL,
    failing_since = NULL, next_try_at = clock_timestamp(),
    leased_until = CASE WHEN leased_until::text = $4 THEN NULL ELSE leased_until END
  WHERE id = $1 AND delivered_seq = $2`;

const FAILED = `
  UPDATE audit_destinations SET failures = failures + 1, last_error = $3, leased_until = NULL,
    failing_since = coalesce(failing_since, clock_timestamp()),
    next_try_at = clock_timestamp()
      + make_interval(secs => least(${LONGEST_PAUSE_S}, power(2, least(failures, 20))) * (0.5 + random() / 2))
  WHERE id = $1 AND leased_until::text = $2`;

const RELEASED =
  'UPDATE audit_destinations SET leased_until = NULL WHERE id = $1 AND leased_until::text = $2';

const DUE = `
  SELECT d.id FROM audit_destinations d JOIN audit_heads h ON h.organization_id = d.organization_id
  WHERE d.is_enabled AND d.delivered_seq < h.seq AND d.next_try_at <= now()
    AND (d.leased_until IS NULL OR d.leased_until < now())
  ORDER BY d.next_try_at LIMIT $1`;

/** Which destinations are behind, what they lack, and how far each has come. */
export class DueBatches {
  constructor(private readonly database: DataSource) {}

  async due(most: number): Promise<string[]> {
    const rows: { id: string }[] = await this.database.query(DUE, [most]);
    return rows.map(({ id }) => id);
  }

  /** Null when it is not to be tried now, or another process has it. */
  async claim(id: string): Promise<ClaimedDestination | null> {
    const [[claimed]]: [ClaimedDestination[], number] = await this.database.query(CLAIM, [id]);
    return claimed ?? null;
  }

  /** The next records in the order of the chain: some hundreds, or as many as make a megabyte, but one at least. */
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

  async advance({ id, deliveredSeq, lease }: ClaimedDestination, seq: string): Promise<void> {
    await this.database.query(DELIVERED, [id, deliveredSeq, seq, lease]);
  }

  async fail({ id, lease }: ClaimedDestination, reason: string): Promise<void> {
    await this.database.query(FAILED, [id, lease, reason]);
  }

  async release({ id, lease }: ClaimedDestination): Promise<void> {
    await this.database.query(RELEASED, [id, lease]);
  }
}
