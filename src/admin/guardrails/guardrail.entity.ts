import { Column, Entity } from 'typeorm';
import { OwnedAtEitherLevel } from '../../database/tenant-owned.entity.js';

/** A stored guardrail. It belongs to one workspace, or to the whole organization; the slug is unique in the organization. */
@Entity('guardrails')
export class Guardrail extends OwnedAtEitherLevel {
  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  /** As read, with `***` in place of secrets. */
  @Column({ type: 'jsonb' })
  checks: readonly Readonly<Record<string, unknown>>[];

  @Column({ type: 'jsonb' })
  actions: Readonly<Record<string, unknown>>;

  /** The checks' secrets as JSON, sealed for `guardrailPurpose` of this row; null without any. */
  @Column({ type: 'bytea', nullable: true })
  sealedSecrets: Buffer | null;

  /** Renewed by each change. */
  @Column({ type: 'uuid' })
  versionId: string;

  /** The user who acted, or else the key. */
  @Column({ type: 'uuid' })
  ownerId: string;

  @Column({ type: 'uuid', nullable: true })
  updatedBy: string | null;
}
