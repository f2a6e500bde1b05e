import { Column, Entity } from 'typeorm';
import type {
  ClientDisconnectRule,
  UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import type { StoredSecretMapping } from '../../common/contracts/secret-mapping.js';
import type { Price } from '../../common/contracts/price.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/**
 * An alias for a stored provider credential. It belongs to one workspace; the slug is unique in the organization. A row with an integration
 * is a `WorkspaceProvider`.
 */
@Entity('virtual_keys')
export class VirtualKey extends WorkspaceOwned {
  /** Null: it has its own credential. */
  @Column({ type: 'uuid', nullable: true })
  integrationId: string | null;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text', nullable: true })
  note: string | null;

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

  /** Prices of models under this key instead of list prices, by model name. */
  @Column({ type: 'jsonb', nullable: true })
  prices: Record<string, Price> | null;

  @Column({ type: 'timestamptz', nullable: true })
  expiresAt: Date | null;

  /** What happens to an attempt when its client disconnects; null for the workspace's rule. */
  @Column({ type: 'text', nullable: true })
  onClientDisconnect: ClientDisconnectRule | null;

  /** What happens to parameters that the provider does not support; null: they are refused. */
  @Column({ type: 'text', nullable: true })
  unsupportedParameters: UnsupportedParameterRule | null;

  @Column({ type: 'jsonb', nullable: true })
  rateLimits: RateRule[] | null;

  @Column({ type: 'jsonb', nullable: true })
  usageLimits: BudgetRule[] | null;
}
