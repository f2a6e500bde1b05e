import { Column, Entity } from 'typeorm';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** A destination for the audit records of an organization, and its progress. */
@Entity('audit_destinations')
export class AuditDestination extends TenantOwned {
  @Column({ type: 'text' })
  name: string;

  /** In a format that `parseAuditTarget` reads. */
  @Column({ type: 'text' })
  url: string;

  /** Signing secret of a webhook. */
  @Column({ type: 'bytea', nullable: true })
  sealedSecret: Buffer | null;

  /** Certificates in PEM that are trusted besides the default ones. */
  @Column({ type: 'text', nullable: true })
  caCertificate: string | null;

  @Column({ type: 'boolean' })
  isEnabled: boolean;

  /** Number of the last record that the receiver has accepted. The driver returns 64-bit numbers as text. */
  @Column({ type: 'bigint' })
  deliveredSeq: string;

  @Column({ type: 'timestamptz', nullable: true })
  deliveredAt: Date | null;

  /** Failed attempts since the last success. */
  @Column({ type: 'integer', default: 0 })
  failures: number;

  @Column({ type: 'text', nullable: true })
  lastError: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  failingSince: Date | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  nextTryAt: Date;

  /** Until then one process has claimed it. */
  @Column({ type: 'timestamptz', nullable: true })
  leasedUntil: Date | null;
}
