import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import type { OrganizationRole } from '../../contracts/roles.js';

/** A person of one organization. */
@Entity('users')
export class User {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'text' })
  email: string;

  @Column({ type: 'text' })
  role: OrganizationRole;

  /** For the dashboard, as `hashPassword` wrote it; null for a person who has none. */
  @Column({ type: 'text', nullable: true, select: false })
  passwordHash: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;
}
