import { Column, Entity } from 'typeorm';
import type { OrganizationRole } from '../../common/contracts/roles.js';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** A user of one organization. */
@Entity('users')
export class User extends TenantOwned {
  /** As normalized by `normalizeEmail`. Unique in the organization, ignoring case. */
  @Column({ type: 'text' })
  email: string;

  @Column({ type: 'text', nullable: true })
  firstName: string | null;

  @Column({ type: 'text', nullable: true })
  lastName: string | null;

  @Column({ type: 'text' })
  role: OrganizationRole;

  /** A deactivated user keeps everything but has no rights. */
  @Column({ type: 'text', default: 'active' })
  status: UserStatus;
}

export type UserStatus = 'active' | 'deactivated';
