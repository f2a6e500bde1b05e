import { Column, Entity } from 'typeorm';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** A test sign-in that shows the provider's claims, and opens no session. */
@Entity('sign_in_trials')
export class SignInTrial extends TenantRecord {
  @Column({ type: 'bytea' })
  stateHash: Buffer;

  @Column({ type: 'bytea' })
  sealedDraft: Buffer;

  /** Null until the provider has responded. */
  @Column({ type: 'jsonb', nullable: true })
  result: object | null;

  @Column({ type: 'timestamptz' })
  expiresAt: Date;
}
