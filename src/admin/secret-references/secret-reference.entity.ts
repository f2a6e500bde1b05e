import { Column, Entity } from 'typeorm';
import { TenantOwned } from '../../database/tenant-owned.entity.js';
import type { ManagerType } from '../../external-credentials/secret-managers/manager-table.js';

/** A secret in a secret manager: where it is, and how the gateway signs in there. Never the secret itself. */
@Entity('secret_references')
export class SecretReference extends TenantOwned {
  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ type: 'text' })
  managerType: ManagerType;

  /** Fields of `auth_config` that are not secret. */
  @Column({ type: 'jsonb' })
  auth: Record<string, string>;

  /** The others as a JSON object, sealed for `authPurpose`; null without any. */
  @Column({ type: 'bytea', nullable: true })
  sealedAuth: Buffer | null;

  @Column({ type: 'text' })
  secretPath: string;

  /** A member of the secret's JSON object. */
  @Column({ type: 'text', nullable: true })
  secretKey: string | null;

  /** Workspaces that may use it; null for all. */
  @Column({ type: 'uuid', array: true, nullable: true })
  allowedWorkspaceIds: string[] | null;

  @Column({ type: 'jsonb', nullable: true })
  tags: Record<string, string> | null;

  /** The user, or the API key of a service. */
  @Column({ type: 'uuid', nullable: true })
  createdBy: string | null;
}
