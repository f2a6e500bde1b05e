import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';

/** Keeps the request log of a workspace, or of a whole organization, from retention, until it is released. */
@Entity('legal_holds')
export class LegalHold {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  /** Null for the whole organization. */
  @Column({ type: 'uuid', nullable: true })
  workspaceId: string | null;

  @Column({ type: 'text' })
  reason: string;

  @Column({ type: 'uuid', nullable: true })
  placedByKeyId: string | null;

  @Column({ type: 'uuid', nullable: true })
  placedByUserId: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  /** Null while it holds. */
  @Column({ type: 'timestamptz', nullable: true })
  releasedAt: Date | null;

  @Column({ type: 'uuid', nullable: true })
  releasedByKeyId: string | null;

  @Column({ type: 'uuid', nullable: true })
  releasedByUserId: string | null;

  @Column({ type: 'text', nullable: true })
  releaseReason: string | null;
}
