import { Column, Entity } from 'typeorm';
import type { ClientDisconnectRule } from '../../common/contracts/client-disconnect.js';
import type { UnsupportedParameterRule } from '../../common/contracts/unsupported-parameters.js';
import type { Price } from '../../common/contracts/price.js';
import type { BudgetRule, RateRule } from '../../common/limits/rules.js';
import { WorkspaceOwned } from '../../database/tenant-owned.entity.js';

/**
 * Our alias for stored provider credentials. It belongs to one workspace; the slug is unique in the organization.
 * A row with an integration is a `WorkspaceProvider`.
 */
@Entity('virtual_keys')
export class VirtualKey extends WorkspaceOwned {
  /** Null: the credential is its own. */
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

  /** Base URL that this key pins instead of the provider's own. */
  @Column({ type: 'text', nullable: true })
  customHost: string | null;

  /** What the provider needs besides the key, such as a project. Not secret. */
  @Column({ type: 'jsonb' })
  fields: Record<string, string>;

  /** The key, sealed for `credentialBindingOf` this row; null where the provider asks for none. */
  @Column({ type: 'bytea', nullable: true })
  sealedCredentials: Buffer | null;

  /** What models cost under this key instead of the list price, by their name. */
  @Column({ type: 'jsonb', nullable: true })
  prices: Record<string, Price> | null;

  @Column({ type: 'timestamptz', nullable: true })
  expiresAt: Date | null;

  /** What becomes of an attempt whose client leaves; null for the workspace's rule. */
  @Column({ type: 'text', nullable: true })
  onClientDisconnect: ClientDisconnectRule | null;

  /** What happens to parameters that the provider does not have; null: they are refused. */
  @Column({ type: 'text', nullable: true })
  unsupportedParameters: UnsupportedParameterRule | null;

  @Column({ type: 'jsonb', nullable: true })
  rateLimits: RateRule[] | null;

  @Column({ type: 'jsonb', nullable: true })
  usageLimits: BudgetRule[] | null;
}
