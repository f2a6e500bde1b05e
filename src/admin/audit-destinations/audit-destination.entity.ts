import { Column, Entity } from 'typeorm';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** Where the audit records of an organization are forwarded to, and how far that has come. */
@Entity('audit_destinations')
export class AuditDestination extends TenantOwned {
  @Column({ type: 'text' })
  name: string;

  /** As `parseAuditTarget` reads it. */
  @Column({ type: 'text' })
  url: string;

  /** What the calls of a webhook are signed with. */
  @Column({ type: 'bytea', nullable: true })
  sealedSecret: Buffer | null;

  /** Certificates in PEM that are trusted besides the usual ones. */
  @Column({ type: 'text', nullable: true })
  caCertificate: string | null;

  @Column({ type: 'boolean' })
  isEnabled: boolean;

  /** Number of the last record that the receiver has taken. The driver gives 64-bit numbers as text. */
  @Column({ type: 'bigint' })
  deliveredSeq: string;

  @Column({ type: 'timestamptz', nullable: true })
  deliveredAt: Date | null;

  /** Tries that failed since the last one that did not. */
  @Column({ type: 'integer', default: 0 })
  failures: number;

  @Column({ type: 'text', nullable: true })
  lastError: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  failingSince: Date | null;

  @Column({ type: 'timestamptz', default: () => 'now()' })
  nextTryAt: Date;

  /** Until then one process has it in hand. */
  @Column({ type: 'timestamptz', nullable: true })
  leasedUntil: Date | null;
}
