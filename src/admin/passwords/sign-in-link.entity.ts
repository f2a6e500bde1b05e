import { Column, Entity } from 'typeorm';
import type { SignInLinkPurpose } from '../../common/crypto/sign-in-link.js';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** A link for a user to set a password once. Using it deletes the row. */
@Entity('sign_in_links')
export class SignInLink extends TenantRecord {
  @Column({ type: 'uuid' })
  userId: string;

  @Column({ type: 'text' })
  purpose: SignInLinkPurpose;

  @Column({ type: 'bytea' })
  tokenHash: Buffer;

  @Column({ type: 'timestamptz' })
  expiresAt: Date;
}
