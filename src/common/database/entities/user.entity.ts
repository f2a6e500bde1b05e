import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { OrganizationRole } from '../../contracts/roles.js';

/** A person of one organization. */
@Entity('users')
export class User {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

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

  /** For the dashboard, as `hashPassword` wrote it; null for a person who has none. */
  @Column({ type: 'text', nullable: true, select: false })
  passwordHash: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

export type UserStatus = 'active' | 'deactivated';
