import { Column, Entity } from 'typeorm';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** A mail to be sent: written in the transaction that needs it, marked when it is sent. */
@Entity('mails')
export class Mail extends TenantRecord {
  /** The invite that it brings. */
  @Column({ type: 'uuid' })
  inviteId: string;

  /** Until then a process is sending it. */
  @Column({ type: 'timestamptz', nullable: true })
  leasedUntil: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  sentAt: Date | null;
}
