import { Column, Entity } from 'typeorm';
import type { SignInMethod } from '../../common/contracts/sign-in-method.js';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** A user's session in a browser. The cookie holds the secret; the row holds its hash. */
@Entity('sessions')
export class Session extends TenantRecord {
  @Column({ type: 'uuid' })
  userId: string;

  @Column({ type: 'bytea' })
  secretHash: Buffer;

  @Column({ type: 'text' })
  method: SignInMethod;

  @Column({ type: 'text' })
  ip: string;

  @Column({ type: 'text', nullable: true })
  userAgent: string | null;

  /** Precise to a minute. */
  @Column({ type: 'timestamptz', default: () => 'now()' })
  lastSeenAt: Date;

  /** Time of the user's last authentication: the sign-in, or a step-up since. */
  @Column({ type: 'timestamptz', default: () => 'now()' })
  authenticatedAt: Date;
}
