import { Column, Entity } from 'typeorm';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

export type InviteStatus = 'pending' | 'accepted' | 'cancelled' | 'expired';

/** Nobody can be invited as an owner. */
export type InvitedRole = Exclude<OrganizationRole, 'owner'>;

/** That somebody may join the organization. Only a hash of its token is kept. */
@Entity('invites')
export class Invite extends TenantRecord {
  /** As `normalizeEmail` writes it. */
  @Column({ type: 'text' })
  email: string;

  @Column({ type: 'text' })
  role: InvitedRole;

  /** Of the API keys that are made at acceptance, one for each workspace; null when none is wanted. */
  @Column({ type: 'text', array: true, nullable: true })
  keyScopes: string[] | null;

  /** A pending invite whose time is over has expired, whether or not this says so yet. */
  @Column({ type: 'text', default: 'pending' })
  status: InviteStatus;

  /** Null while the mail that makes the token has not been written yet. */
  @Column({ type: 'bytea', nullable: true, select: false })
  tokenHash: Buffer | null;

  /** The person on whose authority it was made. */
  @Column({ type: 'uuid' })
  invitedBy: string;

  @Column({ type: 'timestamptz' })
  expiresAt: Date;

  @Column({ type: 'timestamptz', nullable: true })
  acceptedAt: Date | null;
}
