import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** A saved routing config: its name and which of its versions is in force. The slug is unique in the organization. */
@Entity('configs')
export class Config {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  /** Null where every workspace of the organization may use it. */
  @Column({ type: 'uuid', nullable: true })
  workspaceId: string | null;

  /** `pc-…`. */
  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'boolean' })
  isDefault: boolean;

  /** Requests that name an archived one are refused. */
  @Column({ type: 'text' })
  status: 'active' | 'archived';

  /** A `ConfigVersion` of this config; both may be inserted in either order within one transaction. */
  @Column({ type: 'uuid' })
  versionId: string;

  @Column({ type: 'uuid', nullable: true })
  ownerId: string | null;

  @Column({ type: 'uuid', nullable: true })
  updatedBy: string | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}
