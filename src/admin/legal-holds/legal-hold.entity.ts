import { Column, Entity } from 'typeorm';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** Exempts the request log of a workspace, or of a whole organization, from retention until it is released. */
@Entity('legal_holds')
export class LegalHold extends TenantRecord {
  /** Null for the whole organization. */
  @Column({ type: 'uuid', nullable: true })
  workspaceId: string | null;

  @Column({ type: 'text' })
  reason: string;

  @Column({ type: 'uuid', nullable: true })
  placedByKeyId: string | null;

  @Column({ type: 'uuid', nullable: true })
  placedByUserId: string | null;

  /** Null while the hold is active. */
  @Column({ type: 'timestamptz', nullable: true })
  releasedAt: Date | null;

  @Column({ type: 'uuid', nullable: true })
  releasedByKeyId: string | null;

  @Column({ type: 'uuid', nullable: true })
  releasedByUserId: string | null;

  @Column({ type: 'text', nullable: true })
  releaseReason: string | null;
}
