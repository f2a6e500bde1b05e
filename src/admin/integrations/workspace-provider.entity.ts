import { Column, Entity } from 'typeorm';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/**
 * An integration in one workspace, under its own slug. For requests it is a virtual key, and it shares that table: it has no credential but
 * refers to its integration's.
 */
@Entity('virtual_keys')
export class WorkspaceProvider extends WorkspaceOwned {
  @Column({ type: 'uuid' })
  integrationId: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  expiresAt: Date | null;
}
