import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import type { CredentialBinding } from '../../crypto/envelope.js';

/** Our alias for stored provider credentials. It belongs to one workspace; the slug is unique in the organization. */
@Entity('virtual_keys')
export class VirtualKey {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid' })
  workspaceId: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  @Column({ type: 'text' })
  providerId: string;

  /** Base URL that this key pins instead of the provider's own. */
  @Column({ type: 'text', nullable: true })
  customHost: string | null;

  /** What the provider needs besides the key, such as a project. Not secret. */
  @Column({ type: 'jsonb' })
  fields: Record<string, string>;

  /** The key, sealed for `credentialBindingOf` this row; null where the provider asks for none. */
  @Column({ type: 'bytea', nullable: true })
  sealedCredentials: Buffer | null;

  @Column({ type: 'timestamptz', nullable: true })
  expiresAt: Date | null;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}

/** The columns that say where the credentials will be sent. */
export type BoundKey = Pick<
  VirtualKey,
  'organizationId' | 'workspaceId' | 'id' | 'providerId' | 'customHost'
>;

/**
 * What the credentials of this row are sealed for. It is read from the values that decide where they will be sent,
 * never from a stored copy: a row that somebody pointed at another host or provider does not open.
 */
export function credentialBindingOf(key: BoundKey): CredentialBinding {
  return {
    organizationId: key.organizationId,
    workspaceId: key.workspaceId,
    virtualKeyId: key.id,
    providerId: key.providerId,
    origin: key.customHost === null ? '' : new URL(key.customHost).origin,
    fieldSetVersion: 1,
  };
}
