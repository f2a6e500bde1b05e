import { Column, Entity } from 'typeorm';
import type { StoredSecretMapping } from '../../common/contracts/secret-mapping.js';
import { OwnedAtEitherLevel } from '../../database/tenant-owned.entity.js';

/**
 * A credential that workspaces share. Without a workspace it belongs to the organization; a workspace uses it through a
 * provider (`WorkspaceProvider`). The slug is unique among the organization's integrations.
 */
@Entity('integrations')
export class Integration extends OwnedAtEitherLevel {
  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'text' })
  providerId: string;

  /** Fixed base URL instead of the provider's own. */
  @Column({ type: 'text', nullable: true })
  customHost: string | null;

  /** Account settings besides the key, such as a project. Not secret. */
  @Column({ type: 'jsonb' })
  fields: Record<string, string>;

  /** The key, sealed for `credentialBindingOf` this row; null if the provider needs none. */
  @Column({ type: 'bytea', nullable: true })
  sealedCredentials: Buffer | null;

  /** Fields whose values come from secret references; null for none. */
  @Column({ type: 'jsonb', nullable: true })
  secretMappings: StoredSecretMapping[] | null;

  /** The last characters of the key, to distinguish it from others. */
  @Column({ type: 'text', nullable: true })
  lastFour: string | null;

  /** Whether models without their own setting may be used. */
  @Column({ type: 'boolean' })
  allowsAllModels: boolean;

  /** Whether workspaces without their own setting may use it, including future ones. */
  @Column({ type: 'boolean' })
  isOpenToAllWorkspaces: boolean;
}
