import { Column, Entity } from 'typeorm';
import { OwnedAtEitherLevel } from '../../database/tenant-owned.entity.js';

/** A stored guardrail. It belongs to one workspace, or to the whole organization; the slug is unique in the organization. */
@Entity('guardrails')
export class Guardrail extends OwnedAtEitherLevel {
  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  /** As they were read, with `***` in the place of secrets. */
  @Column({ type: 'jsonb' })
  checks: readonly Readonly<Record<string, unknown>>[];

  @Column({ type: 'jsonb' })
  actions: Readonly<Record<string, unknown>>;

  /** The secrets of the checks as JSON, sealed for `guardrailPurpose` of this row; null where there are none. */
  @Column({ type: 'bytea', nullable: true })
  sealedSecrets: Buffer | null;

  /** Made again with each change. */
  @Column({ type: 'uuid' })
  versionId: string;

  /** The user behind it, or else the key. */
  @Column({ type: 'uuid' })
  ownerId: string;

  @Column({ type: 'uuid', nullable: true })
  updatedBy: string | null;
}
