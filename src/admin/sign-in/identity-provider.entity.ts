import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TenantOwned } from '../../database/tenant-owned.entity.js';

/** An OpenID provider at which users of the organization sign in. */
@Entity('identity_providers')
export class IdentityProvider extends TenantOwned {
  /** On the sign-in page. */
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

  /** Domains of the addresses that it may sign in; none for all. */
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

/** The provider's data of a dashboard session. */
@Entity('single_sign_on_sessions')
export class SingleSignOnSession {
  @PrimaryColumn({ type: 'uuid' })
  sessionId: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid' })
  providerId: string;

  @Column({ type: 'text' })
  subject: string;

  /** The claim `sid`; null from a provider that sends none. */
  @Column({ type: 'text', nullable: true })
  providerSessionId: string | null;

  @Column({ type: 'bytea' })
  sealedIdToken: Buffer;

  /** Null where the provider has no sign-out. */
  @Column({ type: 'text', nullable: true })
  endSessionEndpoint: string | null;
}
