import { Column, Entity } from 'typeorm';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

export type InviteStatus = 'pending' | 'accepted' | 'cancelled' | 'expired';

/** Users cannot be invited as owners. */
export type InvitedRole = Exclude<OrganizationRole, 'owner'>;

/** An invitation to join the organization. Only a hash of its token is stored. */
@Entity('invites')
export class Invite extends TenantRecord {
  /** As normalized by `normalizeEmail`. */
  @Column({ type: 'text' })
  email: string;

  @Column({ type: 'text' })
  role: InvitedRole;

  /** Scopes of the API keys created at acceptance, one key per workspace; null for none. */
  @Column({ type: 'text', array: true, nullable: true })
  keyScopes: string[] | null;

  /** A pending invite past its expiry has expired, even if this is not updated yet. */
  @Column({ type: 'text', default: 'pending' })
  status: InviteStatus;

  /** Null until the mail that contains the token was written. */
  @Column({ type: 'bytea', nullable: true, select: false })
  tokenHash: Buffer | null;

  /** The user on whose authority it was created. */
  @Column({ type: 'uuid' })
  invitedBy: string;

  @Column({ type: 'timestamptz' })
  expiresAt: Date;

  @Column({ type: 'timestamptz', nullable: true })
  acceptedAt: Date | null;
}
