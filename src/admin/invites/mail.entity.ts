import { Column, Entity } from 'typeorm';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** A mail to be sent: written in the transaction that needs it, marked when it is sent. */
@Entity('mails')
export class Mail extends TenantRecord {
  /** The invite to deliver. */
  @Column({ type: 'uuid' })
  inviteId: string;

  /** Until then a process has it claimed for sending. */
  @Column({ type: 'timestamptz', nullable: true })
  leasedUntil: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  sentAt: Date | null;
}
