import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RefusalReason } from '../../auth/identity/recent-refusals.js';

/** Requests that were refused for one reason, from one address with one credential. Written by `note_refused_credentials` only. */
@Entity('refused_credentials')
export class RefusedCredential {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  /** An ended key of the organization was presented in whole. */
  @Column({ type: 'boolean' })
  hasKnownKey: boolean;

  @Column({ type: 'uuid', nullable: true })
  apiKeyId: string | null;

  /** Empty: all addresses and credentials that have no row of their own. */
  @Column({ type: 'text' })
  address: string;

  /** Empty without a credential of at least 16 characters. */
  @Column({ type: 'text' })
  lastFour: string;

  @Column({ type: 'text' })
  reason: RefusalReason;

  @Column({ type: 'text' })
  path: string;

  @Column({ type: 'bigint' })
  requests: string;

  @Column({ type: 'timestamptz' })
  firstAt: Date;

  @Column({ type: 'timestamptz' })
  lastAt: Date;
}
