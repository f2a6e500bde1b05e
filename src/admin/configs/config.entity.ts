import { Column, Entity } from 'typeorm';
import { OwnedAtEitherLevel } from '../../database/tenant-owned.entity.js';

/** A saved routing config: its name and its current version. The slug is unique in the organization. */
@Entity('configs')
export class Config extends OwnedAtEitherLevel {
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
}
