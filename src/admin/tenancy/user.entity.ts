import { Column, Entity } from 'typeorm';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** A person of one organization. */
@Entity('users')
export class User extends TenantOwned {
  /** As `normalizeEmail` writes it. Unique in the organization, whatever the case. */
  @Column({ type: 'text' })
  email: string;

  @Column({ type: 'text', nullable: true })
  firstName: string | null;

  @Column({ type: 'text', nullable: true })
  lastName: string | null;

  @Column({ type: 'text' })
  role: OrganizationRole;

  /** A deactivated person keeps everything and may do nothing. */
  @Column({ type: 'text', default: 'active' })
  status: UserStatus;
}

export type UserStatus = 'active' | 'deactivated';
