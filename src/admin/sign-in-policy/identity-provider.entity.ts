import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** An OpenID provider that users of the organization sign in with. */
@Entity('identity_providers')
export class IdentityProvider extends TenantOwned {
  /** Shown on the sign-in page. */
  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  issuer: string;

  @Column({ type: 'text' })
  clientId: string;

  @Column({ type: 'bytea' })
  sealedClientSecret: Buffer;

  @Column({ type: 'text', array: true })
  scopes: string[];

  /** Mail domains that it may sign in; empty for all. */
  @Column({ type: 'text', array: true })
  domains: string[];

  @Column({ type: 'boolean', default: true })
  isEnabled: boolean;

  /** A `DirectoryRules`. */
  @Column({ type: 'jsonb' })
  rules: object;
}

/** The account of a user at a provider. */
@Entity('user_identities')
export class UserIdentity {
  @PrimaryColumn({ type: 'uuid' })
  providerId: string;

  @PrimaryColumn({ type: 'text' })
  subject: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid' })
  userId: string;
}
